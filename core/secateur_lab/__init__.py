"""The lab: scenarios that hold decisions, evaluation and tuning on judged cases, and recorded sessions."""
