"""The functions of Windows that Python does not offer, with the types of their arguments; names and layouts are those
of its documentation."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import os
from ctypes import wintypes

KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
NT = ctypes.WinDLL("ntdll")
SECURITY = ctypes.WinDLL("advapi32", use_last_error=True)
SHELL = ctypes.WinDLL("shell32", use_last_error=True)

INVALID_HANDLE = ctypes.c_void_p(-1).value
SHARED = 0x1 | 0x2 | 0x4  # others may read, write, and remove or rename it meanwhile

_POINTER = ctypes.c_void_p
_POINTERS = ctypes.POINTER(ctypes.c_void_p)


class UnicodeString(ctypes.Structure):
    """UNICODE_STRING: lengths in bytes, no NUL at the end."""

    _fields_ = [("Length", wintypes.USHORT), ("MaximumLength", wintypes.USHORT), ("Buffer", _POINTER)]


class ObjectAttributes(ctypes.Structure):
    """OBJECT_ATTRIBUTES: a name, and the folder that it is looked up in."""

    _fields_ = [
        ("Length", wintypes.ULONG),
        ("RootDirectory", wintypes.HANDLE),
        ("ObjectName", ctypes.POINTER(UnicodeString)),
        ("Attributes", wintypes.ULONG),
        ("SecurityDescriptor", _POINTER),
        ("SecurityQualityOfService", _POINTER),
    ]


class IoStatusBlock(ctypes.Structure):
    """IO_STATUS_BLOCK."""

    _fields_ = [("Status", _POINTER), ("Information", _POINTER)]


class AttributeTagInfo(ctypes.Structure):
    """FILE_ATTRIBUTE_TAG_INFO: what kind of link a file is."""

    _fields_ = [("FileAttributes", wintypes.DWORD), ("ReparseTag", wintypes.DWORD)]


class Overlapped(ctypes.Structure):
    """OVERLAPPED: an offset in a file."""

    _fields_ = [
        ("Internal", ctypes.c_size_t),
        ("InternalHigh", ctypes.c_size_t),
        ("Offset", wintypes.DWORD),
        ("OffsetHigh", wintypes.DWORD),
        ("Event", wintypes.HANDLE),
    ]


class IoCounters(ctypes.Structure):
    """IO_COUNTERS: operations and bytes."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("Reads", "Writes", "Others", "Read", "Written", "Other")]


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, with JOBOBJECT_BASIC_LIMIT_INFORMATION as its first fields."""

    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),  # in 100 nanoseconds
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
        ("IoInfo", IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


class JobAccounting(ctypes.Structure):
    """JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION: what all processes of a job have done."""

    _fields_ = [
        ("TotalUserTime", ctypes.c_int64),
        ("TotalKernelTime", ctypes.c_int64),
        ("ThisPeriodTotalUserTime", ctypes.c_int64),
        ("ThisPeriodTotalKernelTime", ctypes.c_int64),
        ("TotalPageFaultCount", wintypes.DWORD),
        ("TotalProcesses", wintypes.DWORD),
        ("ActiveProcesses", wintypes.DWORD),
        ("TotalTerminatedProcesses", wintypes.DWORD),
        ("IoInfo", IoCounters),
    ]


KERNEL.CreateFileW.argtypes = [
    wintypes.LPCWSTR,
    wintypes.DWORD,
    wintypes.DWORD,
    _POINTER,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.HANDLE,
]
KERNEL.CreateFileW.restype = wintypes.HANDLE
KERNEL.CloseHandle.argtypes = [wintypes.HANDLE]
KERNEL.GetFileInformationByHandleEx.argtypes = [wintypes.HANDLE, ctypes.c_int, _POINTER, wintypes.DWORD]
KERNEL.GetCurrentProcess.restype = wintypes.HANDLE
KERNEL.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
KERNEL.OpenProcess.restype = wintypes.HANDLE
KERNEL.CreateJobObjectW.argtypes = [_POINTER, wintypes.LPCWSTR]
KERNEL.CreateJobObjectW.restype = wintypes.HANDLE
KERNEL.AssignProcessToJobObject.argtypes = [wintypes.HANDLE, wintypes.HANDLE]
KERNEL.SetInformationJobObject.argtypes = [wintypes.HANDLE, ctypes.c_int, _POINTER, wintypes.DWORD]
KERNEL.QueryInformationJobObject.argtypes = [wintypes.HANDLE, ctypes.c_int, _POINTER, wintypes.DWORD, _POINTER]
KERNEL.TerminateJobObject.argtypes = [wintypes.HANDLE, wintypes.UINT]
KERNEL.LockFileEx.argtypes = [
    wintypes.HANDLE,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.DWORD,
    ctypes.POINTER(Overlapped),
]
KERNEL.CreateMutexW.argtypes = [_POINTER, wintypes.BOOL, wintypes.LPCWSTR]
KERNEL.CreateMutexW.restype = wintypes.HANDLE
KERNEL.WaitForSingleObject.argtypes = [wintypes.HANDLE, wintypes.DWORD]
KERNEL.WaitForSingleObject.restype = wintypes.DWORD
KERNEL.ReleaseMutex.argtypes = [wintypes.HANDLE]
KERNEL.GetStdHandle.argtypes = [wintypes.DWORD]
KERNEL.GetStdHandle.restype = wintypes.HANDLE
KERNEL.GetConsoleMode.argtypes = [wintypes.HANDLE, ctypes.POINTER(wintypes.DWORD)]
KERNEL.SetConsoleMode.argtypes = [wintypes.HANDLE, wintypes.DWORD]
KERNEL.LocalFree.argtypes = [_POINTER]
KERNEL.LocalFree.restype = _POINTER

NT.NtCreateFile.argtypes = [
    ctypes.POINTER(wintypes.HANDLE),
    wintypes.DWORD,
    ctypes.POINTER(ObjectAttributes),
    ctypes.POINTER(IoStatusBlock),
    _POINTER,
    wintypes.ULONG,
    wintypes.ULONG,
    wintypes.ULONG,
    wintypes.ULONG,
    _POINTER,
    wintypes.ULONG,
]
NT.NtCreateFile.restype = wintypes.LONG
NT.RtlNtStatusToDosError.argtypes = [wintypes.LONG]
NT.RtlNtStatusToDosError.restype = wintypes.ULONG

SECURITY.GetNamedSecurityInfoW.argtypes = [
    wintypes.LPCWSTR,
    ctypes.c_int,
    wintypes.DWORD,
    _POINTERS,
    _POINTERS,
    _POINTERS,
    _POINTERS,
    _POINTERS,
]
SECURITY.GetNamedSecurityInfoW.restype = wintypes.DWORD
SECURITY.ConvertSidToStringSidW.argtypes = [_POINTER, _POINTERS]
SECURITY.OpenProcessToken.argtypes = [wintypes.HANDLE, wintypes.DWORD, ctypes.POINTER(wintypes.HANDLE)]
SECURITY.GetTokenInformation.argtypes = [
    wintypes.HANDLE,
    ctypes.c_int,
    _POINTER,
    wintypes.DWORD,
    ctypes.POINTER(wintypes.DWORD),
]
SHELL.CommandLineToArgvW.argtypes = [wintypes.LPCWSTR, ctypes.POINTER(ctypes.c_int)]
SHELL.CommandLineToArgvW.restype = ctypes.POINTER(wintypes.LPWSTR)


def failure(code: int | None = None, name: str | None = None) -> OSError:
    """The error of a code of Windows, by default that of the last call: FileNotFoundError and the like."""
    number = ctypes.get_last_error() if code is None else code
    return OSError(0, ctypes.FormatError(number).strip(), name, number)


def verbatim(path: str | os.PathLike[str]) -> str:
    r"""An absolute path that Windows takes as it is, `\\?\C:\a\b`: of any length, and `NUL` in it is a name like
    others."""
    text = os.path.abspath(path)  # noqa: PTH100 - of text, and no link is resolved
    if text.startswith("\\\\?\\"):
        return text
    return "\\\\?\\UNC\\" + text[2:] if text.startswith("\\\\") else "\\\\?\\" + text
