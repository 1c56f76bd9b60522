import { describe, expect, it } from 'vitest';
import { routeOf, type RouteNode } from './route.ts';
import { readYaml } from './yaml-tree.ts';

const lines = (node: RouteNode, depth = 0): readonly string[] => [
  `${' '.repeat(depth)}${[node.place, node.name, node.mode, node.to, node.share].filter(Boolean).join(' ')}`,
  ...node.conditions.map(({ text, target }) => `${' '.repeat(depth)}? ${text} → ${target}`),
  ...node.inner.flatMap((one) => lines(one, depth + 1)),
];
const drawn = (text: string): readonly string[] => lines(routeOf(readYaml(text))!.node);

describe('the route of a gateway config', () => {
  it('has conditions, weights, fallbacks and targets, in the words of records', () => {
    const text = `name: P
strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: { $eq: gold } }
      then: gold
    - { query: { $or: [{ params.stream: true }, { "metadata.app": { $in: [a, b] } }] }, then: split }
  default: split
targets:
  - name: gold
    strategy: { mode: fallback }
    targets:
      - { provider: "@vertex", override_params: { model: gemini } }
      - provider: "@spare"
  - name: split
    strategy:
      mode: loadbalance
    targets: [{ provider: "@a", weight: 3 }, { provider: "@b" }]
`;
    expect(drawn(text)).toEqual([
      'config P conditional',
      '? metadata.tier is gold → gold',
      '? (params.stream is true or metadata.app is one of a, b) → split',
      '? otherwise → split',
      ' config.targets[0] gold fallback',
      '  config.targets[0].targets[0] @vertex/gemini',
      '  config.targets[0].targets[1] @spare',
      ' config.targets[1] split loadbalance',
      '  config.targets[1].targets[0] @a 75 %',
      '  config.targets[1].targets[1] @b 25 %',
    ]);
  });

  it.each([
    ['', undefined],
    ['- a', undefined],
    ['provider: "@sim"\n', ['config @sim']],
    ['strategy: { mode: \ntargets:\n  - prov', ['config the model of the request']],
    ['targets: [{ provider: "@a', ['config single', ' config.targets[0] @a']],
  ])('of an unfinished text is what can be read: %j', (text, expected) => {
    const route = routeOf(readYaml(text));
    expect(route && lines(route.node)).toEqual(expected);
  });

  it('of a text with a thousand nested lists ends', () => {
    const deep = `${'targets: [{ '.repeat(1000)}`;
    expect(drawn(deep).length).toBeLessThan(30);
  });

  it('of more targets than are drawn says how many are left', () => {
    const route = routeOf(readYaml(`targets:\n${'  - provider: "@a"\n'.repeat(10_000)}`), 200);
    expect([route?.node.inner.length, route?.left]).toEqual([200, 9800]);
  });
});
