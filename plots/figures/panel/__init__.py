"""What stands inside and above a panel of a line figure."""
