"""The disk cache: on by default, off on request, the user's own left alone, and bounded."""

import os
import subprocess
import sys

import pytest

from earnshaw import disk_cache

CHOSEN = "JAX_COMPILATION_CACHE_DIR"  # the tests' own, which earnshaw would respect


class _Config(dict):
    jax_compilation_cache_dir = None

    def update(self, name, value):
        self[name] = value


class _Jax:
    def __init__(self):
        self.config = _Config()


def test_it_is_on_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(disk_cache.VARIABLE, raising=False)
    jax = _Jax()
    disk_cache.keep_compiled(jax)
    assert jax.config["jax_compilation_cache_dir"] == str(tmp_path / "earnshaw" / "jax")
    assert (tmp_path / "earnshaw" / "jax").is_dir()


@pytest.mark.parametrize("word", ["off", "OFF", "0", ""])
def test_it_can_be_turned_off(tmp_path, monkeypatch, word):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(disk_cache.VARIABLE, word)
    jax = _Jax()
    disk_cache.keep_compiled(jax)
    assert not jax.config
    assert not list(tmp_path.iterdir())


def test_another_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(disk_cache.VARIABLE, str(tmp_path / "mine"))
    assert disk_cache.cache_folder() == tmp_path / "mine"


def test_a_folder_that_cannot_be_made_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(disk_cache.VARIABLE, str(tmp_path / "file" / "cache"))
    assert disk_cache.cache_folder() is None


def test_the_users_choice_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax = _Jax()
    jax.config.jax_compilation_cache_dir = "mine"
    disk_cache.keep_compiled(jax)
    assert not jax.config


def test_settings_of_the_environment_stay(tmp_path, monkeypatch):
    monkeypatch.setenv(disk_cache.VARIABLE, str(tmp_path))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "3")
    jax = _Jax()
    disk_cache.keep_compiled(jax)
    assert "jax_persistent_cache_min_compile_time_secs" not in jax.config


def test_the_longest_unused_go_first(tmp_path):
    for age in range(8):
        path = tmp_path / f"{age}-cache"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1e9 - age, 1e9 - age))
    disk_cache.prune(tmp_path, 800)
    assert len(list(tmp_path.iterdir())) == 8
    disk_cache.prune(tmp_path, 700)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0-cache", "1-cache", "2-cache"]
    disk_cache.prune(tmp_path / "gone", 1)


@pytest.mark.slow
def test_what_a_script_compiles_is_kept(tmp_path):
    words = "import earnshaw as ew; print(ew.potential('relu', dim=3).value(0.5))"
    environment = {**os.environ, disk_cache.VARIABLE: str(tmp_path)}
    del environment[CHOSEN]

    def entries():
        command = [sys.executable, "-c", words]
        subprocess.run(command, capture_output=True, env=environment, check=True)
        return sorted(path.name for path in tmp_path.iterdir())

    kept = entries()
    assert kept
    (tmp_path / kept[0]).write_bytes(b"torn")  # a process died while it wrote
    assert entries() == kept
