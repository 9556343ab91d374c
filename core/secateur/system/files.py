"""Files and folders as systems differ about them.

folder = OpenedFolder.open(root)          # then folder.folder(name), folder.file(name): no link is followed
os.lstat(place(root, b"a/b.py"))          # any name, however long
with open_shared(path) as file: ...       # whoever writes it may still rename and remove it
handle, path = new_file(folder, "prefix.", ".part"); replace(path, target)
contents(file)                            # mapped where that keeps nobody from replacing the file
owner(path) == user()
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.files import (
        NOWHERE,
        TELLS_EXECUTABLE,
        OpenedFolder,
        contents,
        mode_of_new_files,
        new_file,
        open_shared,
        owner,
        place,
        replace,
        user,
    )
else:
    from secateur.system.posix.files import (
        NOWHERE,
        TELLS_EXECUTABLE,
        OpenedFolder,
        contents,
        mode_of_new_files,
        new_file,
        open_shared,
        owner,
        place,
        replace,
        user,
    )

__all__ = [
    "NOWHERE",
    "TELLS_EXECUTABLE",
    "OpenedFolder",
    "contents",
    "mode_of_new_files",
    "new_file",
    "open_shared",
    "owner",
    "place",
    "replace",
    "user",
]
