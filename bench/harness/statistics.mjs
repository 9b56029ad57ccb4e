// Order statistics of a few rounds. Pure functions over arrays of numbers; none of them changes its argument.

const ascending = (values) => [...values].sort((a, b) => a - b);

// Between two ranks it interpolates (type 7, as R and NumPy do by default). 0 <= share <= 1.
export function quantile(values, share) {
  if (values.length === 0) return undefined;
  const sorted = ascending(values);
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

export const median = (values) => quantile(values, 0.5);

export function summary(values) {
  if (values.length === 0) return { count: 0 };
  return {
    count: values.length,
    median: median(values),
    min: Math.min(...values),
    quartile_1: quantile(values, 0.25),
    quartile_3: quantile(values, 0.75),
    max: Math.max(...values),
  };
}

// The order of `names` in round number `round`: rotated, and turned around every other time, so that nobody always
// follows the same neighbour.
export function rotated(names, round) {
  const by = round % names.length;
  const turned = [...names.slice(by), ...names.slice(0, by)];
  return Math.floor(round / names.length) % 2 === 1 ? turned.reverse() : turned;
}
