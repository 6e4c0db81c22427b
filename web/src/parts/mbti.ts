export const MBTI = ["I", "E"].flatMap((attitude) =>
  ["N", "S"].flatMap((perceiving) =>
    ["F", "T"].flatMap((judging) => ["J", "P"].map((outer) => attitude + perceiving + judging + outer)),
  ),
);
