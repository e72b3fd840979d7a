"""Tests what people type and read: a config without an option, help, suggestions, tables of 80 columns, completion,
manual.
"""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from support import PROGRAM, ProgramTest


def widest(text):
    return max(len(line) for line in text.splitlines())


class Words(ProgramTest):
    def test_a_config_needs_no_option(self):
        config = self.config()
        self.run_program(config, "--out", self.out, expect=0)
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 3})

    def test_help_and_version(self):
        self.assertIn("Exit codes:", self.run_program("help", expect=0).stdout)
        self.assertEqual(self.run_program("help", expect=0).stdout, self.run_program("--help", expect=0).stdout)
        self.assertIn("--fail-on", self.run_program("help", "compare", expect=0).stdout)
        version = self.run_program("version", expect=0).stdout
        self.assertRegex(version, r"^allocbench [0-9.]+ \(commit ")
        self.assertEqual(version, self.run_program("--version", expect=0).stdout)

    def test_misspelt_words_get_a_suggestion(self):
        configs = self.folder / "configs" / "paper"
        configs.mkdir(parents=True)
        shutil.copy(self.config(), configs / "fig3a.json")
        for arguments, suggestion in ((["stduy", "papers"], 'There is no config or command "stduy". Did you mean the command "study"?'),
                                      (["lsit"], 'the command "list"?'),
                                      (["help", "cmpare"], 'Did you mean "compare"?'),
                                      (["configs/paper/fig3.json"], 'There is no config "configs/paper/fig3.json". Did you mean '
                                                                    '"configs/paper/fig3a.json"?'),
                                      (["paper/fig3a"], 'Did you mean "configs/paper/fig3a.json"?'),
                                      (["configs/paper/fig3a.jsn"], 'Did you mean "configs/paper/fig3a.json"?'),
                                      (["--config", "configs/paper/fg3a.json"], 'Did you mean "configs/paper/fig3a.json"?'),
                                      (["--confg", "x"], 'Did you mean "--config"?'),
                                      (["list", "--jsn"], 'Did you mean "--json"?'),
                                      (["compare", "a", "b", "--fail-one=regression"], 'Did you mean "--fail-on"?')):
            with self.subTest(arguments=arguments):
                self.assertIn(suggestion, self.run_program(*arguments, expect=2).stderr)

    def test_only_the_misspelt_option_is_named(self):
        told = self.run_program("--backnd", "cpu", self.config(), expect=2).stderr
        self.assertEqual(told, 'allocbench: "--backnd" was not expected. Did you mean "--backend"? Try --help.\n')

    def test_what_is_missing_or_not_allowed_is_told_plainly(self):
        for arguments, told in ((["describe"], "describe: NAME is missing. Try describe --help."),
                                (["list", "allocs"], 'list: "allocs" is not one of allocators, workloads, metrics. Try list --help.'),
                                (["x.json", "--backend", "gpu"], '--backend: "gpu" is not one of auto, cuda, cpu. Try --help.'),
                                (["run"], "the config alone is enough, as in `allocbench configs/smoke.json`"),
                                (["run", "x.json"], "the config alone is enough")):
            with self.subTest(arguments=arguments):
                error = self.run_program(*arguments, expect=2).stderr
                self.assertIn(told, error)
                self.assertEqual(error.count("\n"), 1)

    def test_what_is_near_nothing_gets_none(self):
        error = self.run_program("xylophone", expect=2).stderr
        self.assertNotIn("Did you mean", error)
        self.assertIn("--help shows the commands", error)


class Tables(ProgramTest):
    def test_lists_fit_80_columns(self):
        self.assertLessEqual(widest(self.run_program("list", "--all", expect=0).stdout), 80)
        self.assertLessEqual(widest(self.run_program("describe", "steady", expect=0).stdout), 80)

    def test_help_fits_80_columns(self):
        for verb in ("", "study", "list", "describe", "report", "compare", "merge", "check", "profile", "help", "version", "completion", "manual"):
            helped = self.run_program(*([verb] if verb else []), "--help", expect=0).stdout
            with self.subTest(verb=verb):
                self.assertLessEqual(widest(helped), 80)
                self.assertEqual(verb in ("", "study", "compare", "merge", "check", "profile"), "Exit codes" in helped)

    def test_allocators_stand_below_their_paper(self):
        lines = self.run_program("list", "allocators", expect=0).stdout.splitlines()
        self.assertEqual(lines[:3], ["allocators", "", "  Nobody 2026"])
        self.assertRegex(lines[3], r"^  steady +published: A steady allocator\.$")

    def test_the_form_and_the_restrictions_are_told_in_words(self):
        told = self.run_program("describe", "steady", expect=0).stdout
        self.assertIn("restrictions: serves one size of block only", told)
        self.assertNotIn("restrictions", self.run_program("describe", "noisy", expect=0).stdout)

    def test_what_only_one_back_end_has_is_marked(self):
        self.assertNotIn("only)", self.run_program("list", expect=0).stdout)
        self.add_worker("cuda")
        text = self.run_program("list", "allocators", expect=0).stdout
        self.assertRegex(text, r"gpu_only +published: A gpu_only allocator\. \(cuda only\)")
        self.assertEqual(text.count("only)"), 1)

    def test_names(self):
        names = self.run_program("list", "allocators", "--names", expect=0).stdout.split()
        self.assertIn("steady", names)
        self.assertNotIn("deaf", names)

    def test_results_fit_80_columns(self):
        config = self.config([{"id": "steady", "label": "a_label_for_steady"}],
                             sweep={"request_bytes": [16], "blocks": [4], "shape": ["steep"]})
        table = self.run_program(config, "--out", self.out, expect=0).stdout
        self.assertLessEqual(widest(table), 80)
        for word in ("alloc", "free", "total", "throughput"):
            self.assertIn(word, table)
        self.assertIn("throughput: operations of alloc and free divided by their time", table)


class Generated(ProgramTest):
    def test_the_manual_has_every_option(self):
        page = self.run_program("manual", expect=0).stdout.replace("\\-", "-")
        self.assertIn(".TH ALLOCBENCH 1", page)
        for verb in ("", "study", "list", "describe", "report", "compare", "merge", "check", "profile"):
            helped = self.run_program(*([verb] if verb else []), "--help", expect=0).stdout
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", helped, re.M):
                with self.subTest(verb=verb, option=option):
                    self.assertIn(option, page)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_the_manual_is_roff(self):
        page = self.run_program("manual", expect=0).stdout
        result = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=page, capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_the_manual_fits_80_columns(self):
        page = self.run_program("manual", expect=0).stdout
        shown = subprocess.run(["groff", "-man", "-rLL=80n", "-Tascii", "-P-cbou"], input=page, capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(widest(shown), 80)
        self.assertIn("allocbench study papers --dry-run", shown)

    def complete(self, *words):
        """Returns what bash offers for the last word."""
        script = self.run_program("completion", "bash", expect=0).stdout
        line = " ".join(f"'{word}'" for word in ("allocbench", *words))
        ask = (f"{script}\nallocbench() {{ '{PROGRAM}' \"$@\"; }}\ncompopt() {{ :; }}\n"
               f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _allocbench; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        result = subprocess.run(["bash", "-c", ask], cwd=self.folder, env=self.environment(), capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_candidates_have_their_first_sentence(self):
        self.assertIn("study\tMeasure all configs of a group as one plan\n", self.run_program("complete", "", expect=0).stdout)
        self.assertIn("--fail-on\t", self.run_program("complete", "compare", "--", expect=0).stdout)
        self.assertEqual(self.run_program("complete", "compare", "--fail-on", "", expect=0).stdout, "regression\n")
        self.assertEqual(self.run_program("complete", "report", "", expect=0).stdout, "<folders>\n")

    def test_bash_completes(self):
        self.config()
        self.assertEqual(self.complete("st"), ["study"])
        self.assertEqual(self.complete("conf"), ["config.json"])
        self.assertIn("--resume", self.complete("study", "--re"))
        self.assertEqual(self.complete("--backend", "c"), ["cuda", "cpu"])
        self.assertEqual(self.complete("list", "al"), ["allocators"])
        self.assertEqual(self.complete("describe", "ste"), ["steady"])
        self.assertEqual(self.complete("study", "pap"), ["papers"])
        self.assertEqual(self.complete("advise", "--siz"), ["--sizes"])
        self.assertEqual(self.complete("study", "--seed", ""), [])
        for name in ("guide/small", "guide/large", "schema/config.schema"):
            path = pathlib.Path(self.folder) / "configs" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        self.assertEqual(self.complete("study", "guide", "--only", "guide/sm"), ["guide/small"])
        self.assertEqual(sorted(self.complete("study", "guide", "--only", "")), ["guide/large", "guide/small"])

    # Each entry maps the words after the program to the line after a Tab. The entries complete a verb, options, an
    # allocator, a group, configs and words of options.
    typed = {"st": "study", "study --re": "study --resume", "describe ste": "describe steady", "study gui": "study guide",
             "study guide --only guide/sm": "study guide --only guide/small", "--backend cp": "--backend cpu", "list al": "list allocators",
             "advise --siz": "advise --sizes", "configs/bey": "configs/beyond/"}
    programs = ("allocbench", "programs/allocbench")  # one program is in PATH, and one is only in its folder

    def environment_of(self, program):
        """Makes two groups of configs, and returns the environment of a shell. Only a program that is named without its
        folder is in PATH.
        """
        for name in ("guide/small", "guide/large", "beyond/steps", "schema/config.schema"):
            path = pathlib.Path(self.folder) / "configs" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        programs = pathlib.Path(self.folder) / "programs"
        programs.mkdir(exist_ok=True)
        if not (programs / "allocbench").exists():
            (programs / "allocbench").symlink_to(pathlib.Path(PROGRAM).resolve())
        path = os.environ["PATH"] if "/" in program else f"{programs}:{os.environ['PATH']}"
        return self.environment(PATH=path, HOME=str(self.folder), TERM="dumb")

    def in_shell(self, program, *command):
        result = subprocess.run(command, cwd=self.folder, env=self.environment_of(program), capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        for program in self.programs:
            ask = f"source ({program} completion fish | psub); for each in $argv; complete -C\"{program} $each\" | string join ' '; echo; end"
            told = self.in_shell(program, "fish", "--no-config", "-c", ask, *self.typed).split("\n\n")
            found = {each: [line.split("\t")[0] for line in words.splitlines()] for each, words in zip(self.typed, told)}
            with self.subTest(program=program):
                self.assertEqual(found, {each: [line.split(" ")[-1]] for each, line in self.typed.items()})

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes(self):
        """Each line after a Tab comes from zsh in a separate terminal."""
        for program in self.programs:
            ask = rf"""
                zmodload zsh/zpty; zpty shell zsh -f -i
                zpty -w shell 'unsetopt beep; autoload -Uz compinit; compinit -u -D; source <({program} completion zsh)'
                zpty -w shell 'told() {{ print -r -- "<<$BUFFER>>"; BUFFER=; }}; zle -N told; bindkey "^I" complete-word "^X" told; print -r -- "<<"ready">>"'
                zpty -r shell line '*<<ready>>*'
                for each; do zpty -w -n shell "{program} $each"$'\t\x18'; zpty -r shell line '*<<*>>*'; print -r -- "${{${{line##*<<}}%%>>*}}"; done"""
            told = self.in_shell(program, "zsh", "-f", "-c", ask, "ask", *self.typed).splitlines()
            with self.subTest(program=program):
                self.assertEqual([" ".join(each.split()) for each in told], [f"{program} {line}" for line in self.typed.values()])

    def test_bash_completes_in_a_terminal(self):
        for program in self.programs:
            ready = f"bind -x '\"\\C-x\": printf \"<<%s>>\" \"$READLINE_LINE\"; READLINE_LINE='; source <({program} completion bash); printf '<<%s>>' ready\n"
            told = self.in_terminal(self.environment_of(program), ready, [f"{program} {each}\t\x18" for each in self.typed])
            with self.subTest(program=program):
                self.assertEqual([each.strip() for each in told], [f"{program} {line}" for line in self.typed.values()])

    def in_terminal(self, environment, ready, asked):
        """Returns what an interactive bash writes between << and >> after each entry of `asked`."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        try:
            return [self.answer(terminal, each) for each in [ready, *asked]][1:]
        finally:
            os.close(terminal)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def answer(self, terminal, keys):
        os.write(terminal, keys.encode())
        written, end = "", time.monotonic() + 60
        while not (found := re.findall("<<([^%>]*)>>", written)):
            self.assertLess(time.monotonic(), end, written)
            if select.select([terminal], [], [], 1)[0]:
                written += os.read(terminal, 4096).decode()
        return found[0]

    def test_other_shells_take_their_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.run_program("completion", shell, expect=0).stdout
            self.assertIn(" complete ", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)


if __name__ == "__main__":
    unittest.main()
