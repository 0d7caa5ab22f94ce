"""The cache: one build for each key whoever asks, whole entries or none, and no lock that outlives its holder."""

import json
import multiprocessing
import os
import signal
import stat
import time
from pathlib import Path

import pytest
from runtime_fakes import count_in_worker

from ucutlass.runtime.cache import METADATA, Cache, content_key, default_cache_folder
from ucutlass.runtime.failures import BuildMachineError

KEY = content_key({"source": "x"})


def build(scratch: Path) -> dict[str, object]:
    (scratch / "result").write_text("built")
    (scratch / "inner").mkdir()
    (scratch / "inner" / "more").write_text("also")
    return {"seconds": 1.5}


def never(scratch: Path) -> dict[str, object]:
    raise AssertionError("the entry was there already")


def leftovers(cache: Cache) -> list[Path]:
    return list((cache.folder / "scratch").iterdir())


def test_an_entry_is_built_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.find(KEY) is None
    entry, cached = cache.get_or_build(KEY, build)
    assert not cached
    assert entry.file("result").read_text() == "built" and entry.file("inner/more").read_text() == "also"
    assert entry.metadata["seconds"] == 1.5
    again, cached = cache.get_or_build(KEY, never)
    assert cached and again == entry
    assert leftovers(cache) == []


def test_every_part_of_the_key_counts() -> None:
    parts: dict[str, object] = {"source": "a", "flags": ["-O3"], "nvcc": "13.0"}
    changed = [{**parts, name: "other"} for name in parts]
    assert len({content_key(p) for p in [parts, *changed]}) == 4
    assert content_key(dict(reversed(parts.items()))) == content_key(parts)


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail(scratch: Path) -> dict[str, object]:
        (scratch / "half").write_text("half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get_or_build(KEY, fail)
    assert cache.find(KEY) is None and leftovers(cache) == []
    assert not cache.get_or_build(KEY, build)[1]


@pytest.mark.parametrize("damage", ["truncate", "remove", "metadata", "garbage"])
def test_a_damaged_entry_is_built_again(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path)
    entry, _ = cache.get_or_build(KEY, build)
    match damage:
        case "truncate":
            entry.file("result").write_text("bu")
        case "remove":
            entry.file("inner/more").unlink()
        case "metadata":
            entry.file(METADATA).unlink()
        case _:
            entry.file(METADATA).write_text('{"files": ')
    repaired, cached = cache.get_or_build(KEY, build)
    assert not cached and repaired.file("result").read_text() == "built"
    assert [p.name for p in repaired.folder.parent.iterdir()] == [repaired.folder.name]


def test_processes_build_one_key_once(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=count_in_worker, args=(tmp_path / "cache", KEY, marks, 0.5)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(list(marks.iterdir())) == 1


def test_without_locks_the_first_to_finish_wins(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def overtaken(scratch: Path) -> dict[str, object]:
        metadata = build(scratch)
        # Somebody else publishes the key while we build it.
        other = Cache(tmp_path / "other").get_or_build(KEY, build)[0].folder
        target = tmp_path / "kernels" / KEY[:2]
        target.mkdir(parents=True)
        other.rename(target / KEY[2:])
        return {**metadata, "mine": True}

    entry, _ = cache.get_or_build(KEY, overtaken)
    assert "mine" not in entry.metadata
    assert leftovers(cache) == []


def test_a_killed_builder_blocks_nobody(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    context = multiprocessing.get_context("spawn")
    slow = context.Process(target=count_in_worker, args=(tmp_path / "cache", KEY, marks, 600.0))
    slow.start()
    deadline = time.monotonic() + 60
    while not list(marks.iterdir()):
        assert time.monotonic() < deadline and slow.is_alive()
        time.sleep(0.05)
    assert slow.pid is not None
    os.kill(slow.pid, signal.SIGKILL)
    slow.join(timeout=60)
    start = time.monotonic()
    entry, cached = Cache(tmp_path / "cache").get_or_build(KEY, build)
    assert not cached and entry.file("result").read_text() == "built"
    assert time.monotonic() - start < 20


def test_patience_ends(tmp_path: Path) -> None:
    """A lock that somebody holds for ever delays, but does not stop."""
    context = multiprocessing.get_context("spawn")
    marks = tmp_path / "marks"
    marks.mkdir()
    holder = context.Process(target=count_in_worker, args=(tmp_path / "cache", KEY, marks, 600.0))
    holder.start()
    try:
        deadline = time.monotonic() + 60
        while not list(marks.iterdir()):
            assert time.monotonic() < deadline and holder.is_alive()
            time.sleep(0.05)
        assert not Cache(tmp_path / "cache", patience=0.3).get_or_build(KEY, build)[1]
    finally:
        holder.kill()
        holder.join(timeout=60)


def test_abandoned_scratch_folders_are_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    old, young = tmp_path / "scratch" / "old", tmp_path / "scratch" / "young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    two_days_ago = time.time() - 48 * 3600
    os.utime(old, (two_days_ago, two_days_ago))
    cache.get_or_build(KEY, build)
    assert leftovers(cache) == [young]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BuildMachineError) as caught:
        Cache(file).get_or_build(KEY, build)
    assert caught.value.code == "UC0808"
    assert str(file) in str(caught.value) and "--cache-dir" in str(caught.value)


def test_entries_are_readable_by_others(tmp_path: Path) -> None:
    entry, _ = Cache(tmp_path).get_or_build(KEY, build)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(entry.folder.stat().st_mode) == 0o777 & ~umask
    files = json.loads(entry.file(METADATA).read_text())["files"]
    assert files == {"result": 5, "inner/more": 4}


def test_where_the_cache_is() -> None:
    home = Path("~").expanduser()
    assert default_cache_folder({}) == home / ".cache/ucutlass"
    assert default_cache_folder({"XDG_CACHE_HOME": "/xdg"}) == Path("/xdg/ucutlass")
    assert default_cache_folder({"XDG_CACHE_HOME": "/xdg", "UCUTLASS_CACHE_DIR": "/mine"}) == Path("/mine")
    assert default_cache_folder({"UCUTLASS_CACHE_DIR": "~/mine"}) == home / "mine"
