import { expect, it } from 'vitest';
import { yamlPieces } from './yaml.ts';

it.each([
  [
    '  - query: { metadata.tier: { $eq: gold } } # why',
    [
      'plain   - ',
      'key query',
      'plain : { ',
      'key metadata.tier',
      'plain : { ',
      'key $eq',
      'plain : gold } } ',
      'comment # why',
    ],
  ],
  ['    provider: "@simulator"', ['plain     ', 'key provider', 'plain : ', 'text "@simulator"']],
  ['url: http://a/b#c', ['key url', 'plain : http://a/b#c']],
  ["name: it's # x", ['key name', "plain : it's ", 'comment # x']],
])('a line of YAML has its keys, texts and comments: %s', (line, pieces) => {
  expect(yamlPieces(line).map(({ kind, text }) => `${kind} ${text}`)).toEqual(pieces);
  expect(
    yamlPieces(line)
      .map(({ text }) => text)
      .join(''),
  ).toBe(line);
});
