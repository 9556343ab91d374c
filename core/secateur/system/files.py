"""Operations on files and folders that differ between systems.

folder = OpenedFolder.open(root)          # then folder.folder(name), folder.file(name): no link is followed
handle = folder.new_file(name); folder.replace(name, target)
os.lstat(path_below(root, b"a/b.py"))          # works for names of any length
with open_shared(path) as file: ...       # another process may still rename and remove it
handle, path = new_file(folder, "prefix.", ".part"); replace(path, target)
contents(file)                            # mapped, if a mapped file can still be replaced
owner(path) == user()
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.files import *
else:
    from secateur.system.posix.files import *
