// From the raw rounds to what is reported: values of each peer, and ratios taken within one round. Pure.
import { summary } from './statistics.mjs';

const proxies = ['weir', 'nginx', 'haproxy'];

// rounds: [{direct: {request_p50, …}, weir: {…}, …}]. Adds to each proxy what it adds to a direct connection.
export function withAdded(rounds) {
  return rounds.map((round) => Object.fromEntries(Object.entries(round).map(([name, values]) => {
    if (name === 'direct' || !round.direct) return [name, values];
    return [name, {
      ...values,
      added_request_p50: values.request_p50 - round.direct.request_p50,
      added_chunk_p50: values.chunk_p50 - round.direct.chunk_p50,
    }];
  })));
}

// {measure id: {title, unit, peers: {name: summary + values}, ratios: {"weir/nginx": summary + values}}}
export function evaluate(rounds, measures) {
  const complete = withAdded(rounds);
  return Object.fromEntries(measures.map(({ id, title, unit }) => {
    const valuesOf = (name) => complete.map((round) => round[name]?.[id]);
    const peers = {};
    for (const name of ['direct', ...proxies]) {
      const values = valuesOf(name).filter(isNumber);
      if (values.length > 0) peers[name] = { ...summary(values), values };
    }
    const ratios = {};
    for (const other of proxies.slice(1)) {
      const values = complete
        .filter((round) => isNumber(round.weir?.[id]) && isNumber(round[other]?.[id]) && round[other][id] > 0)
        .map((round) => round.weir[id] / round[other][id]);
      if (values.length > 0) ratios[`weir/${other}`] = { ...summary(values), values };
    }
    return [id, { title, unit, peers, ratios }];
  }));
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
