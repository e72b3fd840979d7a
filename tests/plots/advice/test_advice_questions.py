"""Tests questions to `advise`: wrong ones are refused, and the guide has cells near the jobs for which it is made."""

import dataclasses
import itertools

import advised
import pytest
from allocbench.errors import UsageError

from plots.advice import cases, engine, question
from plots.commands import advise as cli
import plots.commands.cli
from plots.runs import configs, kept
from plots.sheet import quantity


def _jobs_of_the_guide():
    """Returns the job of every cell that the configs of the guide plan on a GPU."""
    for path in sorted((kept.ROOT / "configs" / "guide").glob("*.json")):
        config = configs.read(path)
        rule = cases.RULES.get(config["workload"]["id"])
        groups = [*({name: values} for name, values in config.get("sweep", {}).items()), *config.get("zip", [])]
        points = [[dict(zip(group, values)) for values in zip(*group.values())] for group in groups]
        for chosen in itertools.product(*points) if rule and rule.job else ():
            settings = {**config["workload"], **{name: value for point in chosen for name, value in point.items()}}
            job = rule.job(settings, quantity.parse_bytes(settings.get("pool_bytes", config.get("pool_bytes"))))
            if job:
                yield f"{config['name']} {settings}", dataclasses.asdict(job)


@pytest.mark.parametrize("words", [{"sizes": "48", "threads": "1M"}, {"sizes": "16-4096", "threads": "100k", "fill": "90%"},
                                   {"sizes": "64", "threads": "100k", "lifetime": "others"}, {"sizes": "64", "threads": "100k", "alignment": "128"}], ids=lambda words: "-".join(words.values()))
def test_the_guide_has_cells_near_the_questions_that_it_was_made_for(words):
    asked = advised.asked(**words).data()
    answering = [(place, job) for place, job in _jobs_of_the_guide() if engine.answers({"job": job, "mallocs": "alloc"}, asked)]
    distance, _, place = min((engine.distance_of(job, asked)[0], number, place) for number, (place, job) in enumerate(answering))
    assert distance <= engine.WINDOW, place


def test_a_job_that_lacks_words_is_refused(capsys):
    with pytest.raises(UsageError) as error:
        cli.main(["--threads", "1k"])
    assert str(error.value).startswith("the job lacks --sizes and --pool. Example: allocbench advise --sizes 48")


@pytest.mark.parametrize(
    "arguments, part", [(["advise", "--lifetime", "long"], "invalid choice: 'long'"), (["page"], "required: PATH"), (["advise", "--siz"], "--siz")]
)
def test_a_wrong_command_line_is_told_in_one_line(arguments, part, capsys):
    assert plots.commands.cli.main(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("plots: ") and part in told and "--help." in told and told.count("\n") == 1


@pytest.mark.parametrize(
    "words, part",
    [
        ({"sizes": "4KiB-1"}, "--sizes '4KiB-1': the smaller size must come first"),
        ({"sizes": "big"}, "--sizes 'big' is not a size"),
        ({"sizes": "1-2-3"}, "is neither a size nor a range"),
        ({"sizes": "-5"}, "--sizes '-5' is neither a size nor a range. Write one size (48)"),
        ({"sizes": "16-"}, "--sizes '16-' is neither a size nor a range"),
        ({"sizes": ""}, "--sizes '' is neither a size nor a range"),
        ({"sizes": "48.5"}, "--sizes '48.5' is not a whole number of bytes. Write 48"),
        ({"sizes": "9" * 400}, "is not a size in bytes"),
        ({"sizes": "1-1.5GiB", "threads": "1"}, "--pool 1GiB is smaller than the largest request, 1.5 GiB. Give a larger pool"),
        ({"threads": "0"}, "--threads '0' is not a number"),
        ({"threads": "-4"}, "--threads '-4'"),
        ({"threads": "1e99"}, "--threads '1e99'"),
        ({"threads": "1.5"}, "--threads '1.5' is not a number"),
        ({"threads": "1,5k"}, "--threads '1,5k' is not a number"),
        ({"threads": "9" * 400}, "is not a number of threads from 1 to"),
        ({"pool": "0"}, "--pool '0' is outside"),
        ({"pool": "much"}, "--pool 'much' is not a size"),
        ({"fill": "100%"}, "--fill '100%' is not a share"),
        ({"fill": "many"}, "--fill 'many'"),
        ({"sizes": "1MiB", "threads": "512", "fill": "10%"}, "--fill 10% is too small: 512 requests of 1 MiB take 512 MiB, 50 % of the pool. Give a larger --fill"),
        ({"fill": "0"}, "--fill 0 is too small"),
        ({"lanes": "33"}, "--lanes '33'"),
        ({"lanes": "²"}, "--lanes '²'"),
        ({"lifetime": "long"}, "Allowed: moment, kernel, any, others"),
        ({"lifetime": "others", "must_free": False}, "--never-freed and --lifetime others contradict each other"),
        ({"lifetime": "any", "must_free": False}, "--never-freed and --lifetime any contradict each other: such blocks are freed. Drop one."),
        ({"lifetime": "kernel", "must_free": False}, "--never-freed and --lifetime kernel contradict each other"),
        ({"threads": "1M", "alignment": "4KiB"}, "--pool 1GiB is too small: 1,000,000 blocks at multiples of 4 KiB need 3.81 GiB. Give a larger pool"),
        ({"sizes": "1GiB", "threads": "1M"}, "is too small: 1,000,000 requests"),
        ({"budget": "x"}, "--memory-budget 'x'"),
        ({"budget": ""}, "--memory-budget '' is not a size"),
        ({"budget": "1KiB"}, "--memory-budget 1KiB is too small: "),
        ({"forms": ("new",)}, "--forms 'new' is unknown. Allowed: all, or some of published"),
        ({"forms": ()}, "--forms '' is unknown"),
    ],
)
def test_a_mistake_names_the_option_and_the_next_step(words, part):
    with pytest.raises(UsageError) as error:
        advised.asked(**words)
    assert part in str(error.value)


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["--pool", "-1GiB"], "--pool '-1GiB' is not a size"),
        (["--pool", "1GiB", "--fill", "-5%"], "--fill '-5%' is not a share"),
        (["--pool", "1GiB", "--forms", ""], "--forms '' is unknown"),
        (["--pool", "1GiB", "--results", ""], "--results has an empty path"),
        (["--tried", ""], "--tried has an empty path"),
        (["--tried", "x"], "--tried ranks what `allocbench try` measured, so --sizes and --threads would have no effect. Leave them out."),
    ],
)
def test_senseless_values_end_with_code_2(arguments, part, capsys):
    assert plots.commands.cli.main(["advise", "--sizes", "48", "--threads", "1k", *arguments]) == 2
    told = capsys.readouterr().err
    assert part in told and told.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["--application", "sorting"], "invalid choice: 'sorting'"),
        (["--application", "graph", "--sizes", "4", "--never-freed"], "--application graph brings its own requests and pool, so --sizes and --never-freed would have no effect."),
        (["--application", "graph", "--lanes", "32"], "so --lanes would have no effect. Leave it out."),
        (["--application", "graph", "--forms", "new"], "--forms 'new' is unknown"),
        (["--application", "graph", "--tried", "x"], "so --application would have no effect"),
    ],
)
def test_an_application_has_no_options_of_a_job(arguments, part, capsys):
    assert plots.commands.cli.main(["advise", *arguments]) == 2
    told = capsys.readouterr().err
    assert part in told and told.count("\n") == 1


def test_every_application_has_a_config_and_no_unknown_one_is_asked():
    assert all(configs.read(kept.ROOT / "configs" / "guide" / f"{name}.json")["name"] == f"guide/{name}" for name in cases.APPLICATIONS)
    with pytest.raises(UsageError, match="--application 'sorting' is unknown. Allowed: hash_join, group_by"):
        question.ask_application("sorting")


def test_the_job_itself_fills_the_pool():
    assert advised.asked(sizes="1MiB", threads="512").job.fill == pytest.approx(0.5)
    assert advised.asked(sizes="48", threads="1M", fill="4.47%").job.fill == pytest.approx(0.0447, rel=0.001), "a share as the answer writes it"
    assert advised.asked(fill="90%").job.fill == pytest.approx(0.9)


def test_aligned_requests_are_answered_by_cells_of_their_alignment_alone():
    plain = {"sizes": [64, 64], "threads": 1000, "lanes": 32, "fill": 0.1, "lifetime": cases.KERNEL, "pool": 2**30}
    aligned = {**plain, "alignment": 128}

    def answering(**words):
        asked = advised.asked(sizes="64", **words).data()
        return [engine.answers({"job": job, "mallocs": "alloc"}, asked) for job in (plain, aligned)]

    assert answering() == answering(alignment="16") == [True, False]
    assert answering(alignment="128") == [False, True]
    assert answering(alignment="32") == [False, False]
    assert "at multiples of 128 B" in question.sentence(advised.asked(alignment="128"))


@pytest.mark.parametrize("text", ["0", "3", "96", "4GiB", "x"])
def test_an_alignment_that_no_block_can_have_is_refused(text):
    with pytest.raises(UsageError) as error:
        advised.asked(alignment=text)
    assert str(error.value).startswith(f"--alignment '{text}'") and "128" in str(error.value)
