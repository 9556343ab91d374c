"""The complete example of the pruner spec: its three files and its conversation."""

from __future__ import annotations

from secateur import SourceCode, count_tokens

MATH = '''def add(a, b):
    """加法函数"""
    return a + b

def subtract(a, b):
    """减法函数"""
    return a - b

def multiply(a, b):
    """乘法函数"""
    return a * b

def divide(a, b):
    """除法函数"""
    if b == 0:
        raise ValueError("Cannot divide by zero")
    return a / b
'''

STRINGS = '''def format_string(s):
    """格式化字符串"""
    return s.strip().lower()

def reverse_string(s):
    """反转字符串"""
    return s[::-1]

def count_characters(s):
    """计算字符数"""
    return len(s)
'''

MAIN = """from utils.math_utils import add, subtract
from utils.string_utils import format_string

def main():
    print("计算结果:", add(5, 3))
    print("格式化结果:", format_string("  Hello World  "))

if __name__ == "__main__":
    main()
"""

FILES = [
    SourceCode(name, text, count_tokens(text))
    for name, text in (("src/utils/math_utils.py", MATH), ("src/utils/string_utils.py", STRINGS), ("src/main.py", MAIN))
]

CONVERSATION = [
    {"role": "user", "content": "很好继续"},
    {"role": "assistant", "content": "好的，我明白了"},
    {"role": "user", "content": "项目如何实现加法和减法运算？"},
]
