"""How well questions with known answers are answered, stage by stage, against plain baselines."""
