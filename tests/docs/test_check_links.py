import pathlib
import tempfile
import unittest

import check_links

PAGE = """# Two words, and `code`

[file](other.md) [heading](other.md#a-heading) [second](other.md#a-heading-1) [here](#two-words-and-code)
[gone](gone.md) [no place](other.md#nowhere) [not here](#not-here) [in code](other.md#in-code) [far](https://example.org/#x)
"""
OTHER = """## A heading
## A *heading*

```sh
# in code
```
"""


class DeadLinks(unittest.TestCase):
    def test_files_and_headings(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "page.md").write_text(PAGE, encoding="utf-8")
            (root / "other.md").write_text(OTHER, encoding="utf-8")
            self.assertEqual(check_links.dead_links(root),
                             [f"page.md: {link}" for link in ("gone.md", "other.md#nowhere", "#not-here", "other.md#in-code")])


if __name__ == "__main__":
    unittest.main()
