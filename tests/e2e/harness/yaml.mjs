// Writes plain values as block YAML; scalars are JSON scalars, which YAML reads alike.

export function toYaml(value, indent = '') {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []\n';
    return `\n${value.map((item) => `${indent}-${nested(item, `${indent}  `)}`).join('')}`;
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length === 0) return ' {}\n';
    return `\n${entries.map(([key, item]) => `${indent}${key}:${nested(item, `${indent}  `)}`).join('')}`;
  }
  return ` ${JSON.stringify(value)}\n`;
}

function nested(value, indent) {
  return toYaml(value, indent);
}

export const yamlDocument = (value) => toYaml(value).replace(/^\n/, '');
