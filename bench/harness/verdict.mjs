// Holds measured values against the budget. Pure.

// By how much a measure may exceed what was reached before it counts as worse: more than its own spread.
const tolerance = 1.03;

// measure: an entry of budget.json. `value` undefined = it was not measured. `held` = a measure that is over its budget
// may be so as long as it is no worse than what was reached, which keeps a debt from growing; the verdict names it.
export function judge(measure, value, held = false) {
  if (value === undefined || !Number.isFinite(value)) return 'not measured';
  if (measure.budget === undefined) return 'no budget';
  if (value > measure.budget) return held && value <= measure.reached * tolerance ? 'over, not worse' : 'OVER';
  return value <= measure.stretch ? 'stretch' : 'pass';
}

// 0 within the budget, 1 over it, 3 when a gated measure is missing (which hides whether it is over).
export function exitCode(verdicts) {
  if (verdicts.includes('OVER')) return 1;
  return verdicts.includes('not measured') ? 3 : 0;
}
