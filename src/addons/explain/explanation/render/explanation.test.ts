import fc from 'fast-check';
import { stripVTControlCharacters } from 'node:util';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Explanation } from '../explanation.ts';
import { createExplanation, refused } from './explanations.testkit.ts';
import { explanationJson, renderExplanation } from './explanation.ts';
import { createTarget, gemini, prod } from './targets.testkit.ts';

const golden = (name: string): string => join(import.meta.dirname, 'goldens', `${name}.txt`);
const render = (reported: Explanation, width = 110): string => renderExplanation(reported, { width, colour: false });

/** The part under a heading, up to the next one. */
const part = (text: string, from: string): string => text.split('\n\n').find((block) => block.startsWith(from)) ?? '';

describe('the text of an explanation', () => {
  it.each([
    ['fallback', createExplanation(), 110],
    ['fallback-80-columns', createExplanation(), 80],
    ['refused', refused(), 110],
    [
      'one-target',
      createExplanation({
        rules: [],
        leftOut: [],
        notes: [],
        targets: [
          gemini({
            number: 0,
            why: 'only',
            outbound: undefined,
            cache: undefined,
            refused: {
              status: 400,
              code: 'unsupported_parameter',
              message: 'logit_bias has no place there.',
              param: 'logit_bias',
            },
          }),
        ],
      }),
      110,
    ],
  ])('equals goldens/%s.txt', async (name, reported, width) => {
    await expect(render(reported, width)).toMatchFileSnapshot(golden(name));
  });

  it('begins with the destinations, or with the gateway’s own reply', () => {
    expect(render(createExplanation()).split('\n').slice(0, 2)).toEqual([
      'goes to     @gpt/gpt-5-mini  "fast"',
      '            then @vertex/gemini-2.5-flash',
    ]);
    expect(render(refused()).split('\n')[0]).toBe('answer      401 invalid_api_key: The gateway key is not known.');
  });

  it('reduces a target equal to the first to its title and one line', () => {
    const twin = createTarget({ number: 1, target: 'config.targets[1]', name: 'twin' });
    const text = part(render(createExplanation({ targets: [createTarget(), twin], plugins: [] })), 'target 2');
    expect(
      text
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split('  ')[0]),
    ).toEqual([
      'then',
      expect.stringMatching(/^as target 1 why, health, provider, body, sends, headers, diff, timeouts, retry$/),
    ]);
  });

  it('only names unchanged fields', () => {
    const text = part(render(createExplanation()), 'target 1');
    expect(text).toContain('unchanged: messages (14), stream\n');
    expect(text).not.toContain('no. 0');
  });

  it('shows the line that forwards a header', () => {
    const outbound = {
      ...createTarget().outbound!,
      headers: [
        {
          name: 'x-team',
          value: 'red',
          source: { kind: 'header', name: 'x-team' },
          allowedBy: { kind: 'settings', at: prod(9, 3), setting: 'forward_headers.0' },
        },
      ],
    } as const;
    const text = part(render(createExplanation({ targets: [createTarget({ outbound })] })), 'target 1');
    expect(text).toContain('x-team: red  ← the header x-team ← configs/gateway/prod.yaml:9:3\n');
  });

  it('shows at most 40 differences of a body, and how many more there are', () => {
    const diff = Array.from({ length: 42 }, (_, index) => ({ path: `f${index}`, received: '1' }));
    const outbound = { ...createTarget().outbound!, diff };
    const text = part(render(createExplanation({ targets: [createTarget({ outbound })] })), 'target 1');
    expect(text).toMatch(/- f39: 1\n +and 2 more; --json shows all\n/);
  });

  it('shows a body that is not JSON as a whole', () => {
    const outbound = {
      ...createTarget().outbound!,
      body: 'a=1',
      diff: [{ path: '', received: '{"a":1}', sent: '"a=1"' }],
    };
    const text = part(render(createExplanation({ targets: [createTarget({ outbound })] })), 'target 1');
    expect(text).toMatch(/  diff        - \{"a":1\}\n +\+ "a=1"\n/);
  });

  it('keeps to the width except for unbreakable texts, such as a place or a URL', () => {
    for (const width of [60, 80, 100, 120]) {
      const long = render(createExplanation(), width)
        .split('\n')
        .filter((line) => line.length > width);
      expect(long.filter((line) => !/\S{30,}/.test(line))).toEqual([]);
    }
  });

  it('never ends a line with an arrow', () => {
    for (const width of [60, 80, 110])
      expect(
        render(createExplanation({ config: { ...createExplanation().config!, name: 'x'.repeat(40) } }), width),
      ).not.toMatch(/←\n/);
  });

  it('is aligned for characters of two columns or none', () => {
    const source = { kind: 'header', name: 'x' } as const;
    const changes = ['plain', '模型', 'e\u0301a', '🎉'].map((value) => ({
      path: 'user',
      action: 'set' as const,
      value,
      source,
    }));
    const text = part(render(createExplanation({ targets: [createTarget({ changes })] })), 'target 1');
    expect(text.split('\n').filter((line) => line.includes('user: '))).toEqual([
      '  body        user: "plain"  ← the header x',
      '              user: "模型"   ← the header x',
      '              user: "e\u0301a"     ← the header x',
      '              user: "🎉"     ← the header x',
    ]);
  });

  it('marks a target that answers from its cache', () => {
    const cache = { ...gemini().cache!, hit: true, now: 'hit: stored 3 s ago' };
    const text = render(createExplanation({ targets: [createTarget({ cache })] }));
    expect(text.split('\n')[0]).toBe('goes to     @gpt/gpt-5-mini  "fast"  answered from the cache');
  });

  it('shows no cache key if it is unknown', () => {
    const cache = { ...gemini().cache!, key: '', now: 'not known: it is so' };
    expect(render(createExplanation({ targets: [createTarget({ cache })] }))).toMatch(
      /not known: it is so\n +parts of the key\n +caller/,
    );
  });

  it('names the header that chose the config as the request wrote it', () => {
    const config = {
      ...createExplanation().config!,
      found: 'header',
      source: { kind: 'header', name: 'x-acme-config' },
    } as const;
    expect(render(createExplanation({ config }))).toContain('prod  "Production"  named by x-acme-config\n');
  });

  it('has the same text in colour', () => {
    const coloured = renderExplanation(createExplanation(), { width: 110, colour: true });
    expect(coloured).toContain('\u001b[');
    expect(stripVTControlCharacters(coloured)).toBe(render(createExplanation()));
  });

  it('prints no control character of a caller', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const reported = createExplanation({
          request: { ...createExplanation().request, model: text, path: text, id: text },
          metadata: { [text]: text },
          notes: [text],
          targets: [
            createTarget({
              name: text,
              changes: [{ path: text, action: 'set', value: text, was: text, source: { kind: 'header', name: text } }],
            }),
          ],
          answer: { status: 400, code: 'x', message: text, param: text },
        });
        expect(render(reported)).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 40 },
    );
  });

  it('escapes line breaks in texts', () => {
    expect(render(createExplanation({ notes: ['one\nanswer      200'] }))).toContain(
      'notes       one\\u{a}answer      200\n',
    );
  });

  it('truncates long texts, with their length', () => {
    const source = { kind: 'header', name: 'x' } as const;
    const changes = [{ path: 'user', action: 'set', value: 'x'.repeat(5_000), source }] as const;
    const text = render(createExplanation({ targets: [createTarget({ changes })] }));
    expect(text).toMatch(/"x{40,}… \(5,000 characters\)/);
    expect(text).not.toMatch(/x{100}/);
  });
});

it('the JSON of an explanation is complete and indented', () => {
  const reported = createExplanation();
  expect(JSON.parse(explanationJson(reported))).toEqual(JSON.parse(JSON.stringify(reported)));
  expect(explanationJson(reported).split('\n').slice(0, 3)).toEqual([
    '{',
    '  "settings": {',
    '    "folder": "configs",',
  ]);
});
