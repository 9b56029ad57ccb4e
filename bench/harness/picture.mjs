// An SVG of the ratios: for each measure and peer the range, the quartiles and the median, on a logarithmic scale
// around 1. Pure; no script, no style sheet, readable in light and dark.

const width = 940;
const rowHeight = 22;
const left = 410;
const right = 70;
const [lowest, highest] = [0.25, 8];
const colours = { 'weir/nginx': '#2a7f62', 'weir/haproxy': '#b5651d' };

const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

function place(ratio) {
  const clamped = Math.min(highest, Math.max(lowest, ratio));
  return left + ((Math.log(clamped) - Math.log(lowest)) / (Math.log(highest) - Math.log(lowest))) * (width - left - right);
}

// rows: [{title, name, ratio: summary}]
export function ratioPicture(rows, subtitle) {
  const height = 70 + rows.length * rowHeight;
  const bottom = 46 + rows.length * rowHeight;
  const text = (x, y, content, more = '') => `<text x="${x.toFixed(1)}" y="${y}" ${more}>${escape(content)}</text>`;
  const line = (x1, x2, y, more) => `<line x1="${x1.toFixed(1)}" x2="${x2.toFixed(1)}" y1="${y}" y2="${y}" ${more}/>`;
  const ticks = [0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8].map((tick) => {
    const x = place(tick).toFixed(1);
    return `<line x1="${x}" x2="${x}" y1="40" y2="${bottom}" stroke="#888" stroke-width="${tick === 1 ? 1.5 : 0.4}"/>` +
      text(Number(x), bottom + 15, String(tick), 'text-anchor="middle"');
  });
  const marks = rows.map(({ title, name, ratio }, i) => {
    const y = 46 + i * rowHeight + rowHeight / 2;
    const colour = colours[name] ?? '#555';
    return [
      text(10, y + 4, `${title}, ${name}`),
      line(place(ratio.min), place(ratio.max), y, `stroke="${colour}" stroke-width="1.5"`),
      line(place(ratio.quartile_1), place(ratio.quartile_3), y, `stroke="${colour}" stroke-width="7" stroke-opacity="0.45"`),
      `<circle cx="${place(ratio.median).toFixed(1)}" cy="${y}" r="4.5" fill="${colour}"/>`,
      text(width - right + 12, y + 4, ratio.median.toFixed(2)),
    ].join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">
${text(10, 18, 'Same-run ratios: below 1 Weir is cheaper or faster', 'font-size="14" font-weight="bold"')}
${text(10, 34, subtitle)}
${ticks.join('\n')}
${marks.join('\n')}
</svg>
`;
}
