"""What a file is and what it consists of: its language, its flags, its fragments."""
