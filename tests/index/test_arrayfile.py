import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from secateur.index.store.arrayfile import MAGIC, load, pack_strings, save, unpack_strings

ARRAYS = {
    "numbers": np.arange(1000, dtype=np.int32),
    "none": np.zeros(0, dtype=np.float64),
    "table": np.asfortranarray(np.arange(12, dtype=np.int64).reshape(3, 4)),
    "flags": np.array([True, False]),
    "hashes": np.array([2**64 - 1], dtype=np.uint64),
    "ä\n": np.array([[1.5], [-0.0]], dtype=np.float32),
    "no dimension": np.zeros((4, 0), dtype=np.int8),
}


def test_arrays_come_back_as_they_were(tmp_path):
    save(tmp_path / "a", ARRAYS)
    loaded = load(tmp_path / "a")
    assert loaded is not None
    assert list(loaded) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (loaded[name].dtype, loaded[name].shape, loaded[name].tolist()) == (
            array.dtype,
            array.shape,
            array.tolist(),
        )


def test_a_file_of_earlier_versions_is_not_read(tmp_path):
    save(tmp_path / "a", ARRAYS)
    (tmp_path / "a").write_bytes(b"SECATEU2" + (tmp_path / "a").read_bytes()[8:])
    assert load(tmp_path / "a") is None


def test_no_arrays_are_arrays_too(tmp_path):
    save(tmp_path / "a", {})
    assert load(tmp_path / "a") == {}


def test_loaded_arrays_cannot_be_written(tmp_path):
    save(tmp_path / "a", ARRAYS)
    loaded = load(tmp_path / "a")
    assert loaded is not None
    with pytest.raises(ValueError, match="read-only"):
        loaded["numbers"][0] = 7


def test_a_reader_keeps_what_it_has_when_the_file_is_replaced(tmp_path):
    save(tmp_path / "a", {"x": np.full(5000, 1)})
    old = load(tmp_path / "a")
    save(tmp_path / "a", {"x": np.full(5000, 2)})
    new = load(tmp_path / "a")
    assert old is not None
    assert new is not None
    assert (set(old["x"].tolist()), set(new["x"].tolist())) == ({1}, {2})


def test_the_same_arrays_are_the_same_bytes(tmp_path):
    save(tmp_path / "a", ARRAYS)
    save(tmp_path / "b", ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_that_is_not_there_is_none(tmp_path):
    assert load(tmp_path / "a") is None
    assert load(tmp_path) is None


@pytest.mark.parametrize(
    "content", [b"", b"x", MAGIC, MAGIC + b"\xff" * 8 + b"\0" * 16, b"\0" * 4096, MAGIC + bytes(56)]
)
def test_other_content_is_none(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert load(tmp_path / "a") is None


def test_every_flipped_byte_and_every_cut_is_found(tmp_path):
    save(tmp_path / "a", {"x": np.arange(10), "y": np.arange(3, dtype=np.uint8)})
    data = (tmp_path / "a").read_bytes()
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 + place % 255
        (tmp_path / "b").write_bytes(damaged)
        assert load(tmp_path / "b") is None, place
    for end in range(0, len(data), 7):
        (tmp_path / "b").write_bytes(data[:end])
        assert load(tmp_path / "b") is None, end


def test_a_failed_write_leaves_nothing_behind_and_the_old_file_alone(tmp_path):
    (tmp_path / "a").mkdir()  # a folder where the file should go: renaming fails
    with pytest.raises(OSError, match="a"):
        save(tmp_path / "a", ARRAYS)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "gone" / "a", ARRAYS)


@given(st.lists(st.text(st.characters(exclude_characters="\0"))))
@example(["\ud800"])
@example(["\udcc3\udca4", "\udc80\udfff"])
def test_strings_come_back(strings):
    assert unpack_strings(pack_strings(strings)) == strings


def test_strings_with_bytes_that_were_not_utf_8_come_back_and_nul_becomes_a_space():
    assert unpack_strings(pack_strings(["a\udcff\udc80/b.py", "", "x\0y"])) == ["a\udcff\udc80/b.py", "", "x y"]
