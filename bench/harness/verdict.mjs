// Holds measured values against the budget. Pure.

// measure: an entry of budget.json. `value` undefined = it was not measured.
export function judge(measure, value) {
  if (value === undefined || !Number.isFinite(value)) return 'not measured';
  if (measure.budget === undefined) return 'no budget';
  if (value > measure.budget) return 'OVER';
  return value <= measure.stretch ? 'stretch' : 'pass';
}

// 0 within the budget, 1 over it, 3 when a gated measure is missing (which hides whether it is over).
export function exitCode(verdicts) {
  if (verdicts.includes('OVER')) return 1;
  return verdicts.includes('not measured') ? 3 : 0;
}
