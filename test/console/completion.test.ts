import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeAt, hoverAt, type Known } from '../../src/addons/console/ui/editor/completion.ts';
import { placeAt, readYaml } from '../../src/addons/console/ui/editor/yaml-tree.ts';
import { readSchema, SCHEMA_NAMES } from '../../src/core/settings/schema/schema-files.ts';

const idOf = (name: string): string => `https://gatehouse.dev/schemas/${name}.json`;
const schemas = new Map(SCHEMA_NAMES.map((name) => [idOf(name), readSchema(name)]));
const names = {
  slugs: ['sim', 'openai'],
  models: ['@openai/gpt-5'],
  kinds: ['simulator', 'openai'],
  keys: ['demo'],
  teams: ['search'],
  configs: ['production'],
  prompts: ['hello'],
};
const of = (file: string): Known => ({ root: idOf(file), schemas, names });

/** What is offered at the mark in a text. */
function offered(file: string, marked: string): readonly string[] {
  const at = marked.indexOf('¦');
  return (completeAt(marked.replace('¦', ''), at, of(file))?.options ?? []).map(({ insert }) => insert);
}

describe('completion', () => {
  it.each([
    ['gateway', '¦', ['strategy: ', 'targets: ', 'provider: ']],
    ['gateway', 're¦', ['retry: ', 'request_timeout: ']],
    ['gateway', 'strategy:\n  ¦', ['mode: ', 'conditions: ', 'default: ']],
    ['gateway', 'strategy: { ¦ }', ['mode: ', 'conditions: ']],
    ['gateway', 'strategy: { mode: ¦ }', ['fallback', 'loadbalance', 'conditional']],
    ['gateway', 'targets:\n  - name: a\n    targets:\n      - retry:\n          ¦', ['attempts: ']],
    ['gateway', 'targets:\n  - ¦', ['provider: ', 'weight: ']],
    ['gateway', 'targets: [{ provider: "@sim" }, { retry: { ¦', ['attempts: ']],
    ['gateway', 'targets:\n  - provider: ¦', ['"@sim"', '"@openai"']],
    ['gateway', 'targets:\n  - provider: "@¦"', ['@sim', '@openai']],
    ['gateway', 'strategy: { default: ¦ }\ntargets: [{ name: a, targets: [{ name: b }] }]', ['a', 'b']],
    ['gateway', 'override_params: { model: ¦', ['"@openai/gpt-5"']],
    ['catalog', 'providers:\n  - provider: openai\n    ¦', ['api_key: ', 'base_url: ']],
    ['catalog', 'providers:\n  - ¦\n    provider: simulator\n', ['slug: ']],
    ['keys', 'keys:\n  - id: x\n    default_config: ¦', ['production']],
    ['keys', 'keys:\n  - id: x\n    configs: [¦]', ['production']],
    ['keys', 'keys:\n  - { id: x, team: ¦ }', ['search']],
    ['server', 'listen:\n  port: 1\n  ¦', ['host: ']],
  ])('in %s offers at %j', (file, text, expected) => {
    expect(offered(file, text)).toEqual(expect.arrayContaining(expected));
  });

  it.each([
    ['gateway', 'name: x\n¦', 'name: '],
    ['server', 'listen: { port: 1, ¦ }', 'port: '],
    ['catalog', 'providers:\n  - provider: simulator\n    ¦', 'api_key: '],
    ['catalog', 'providers:\n  - ¦\n    provider: simulator\n', 'api_key: '],
  ])('in %s at %j does not offer a key that is there, or that belongs to another kind: %s', (file, text, unwanted) => {
    expect(offered(file, text)).not.toContain(unwanted);
    expect(offered(file, text).length).toBeGreaterThan(0);
  });

  it.each(['# ¦', 'name: x # ¦', 'name: |\n  ¦\n  text', 'colour:\n  ¦'])('offers nothing at %j', (text) => {
    expect(offered('gateway', text)).toEqual([]);
  });
});

describe('hover', () => {
  it.each([
    ['targets:\n  - retry: { attempts: 2 }\n', 'attempts', 'Number of retries'],
    ['targets:\n  - retry: { attempts: 2 }\n', 'retry', 'Retries at the same target'],
  ])('in %j on %s says what it is', (text, word, about) => {
    const found = hoverAt(text, text.indexOf(word) + 1, of('gateway'));
    expect(found).toMatchObject({ name: word, from: text.indexOf(word), text: expect.stringContaining(about) });
  });

  it('says nothing about an unknown key and about a value', () => {
    expect(hoverAt('colour: red', 2, of('gateway'))).toBeUndefined();
    expect(hoverAt('name: red', 7, of('gateway'))).toBeUndefined();
  });
});

describe('the reading of a text', () => {
  const pieces = fc.constantFrom(
    'a',
    'key: ',
    '- ',
    '{ ',
    '} ',
    '[',
    ']',
    ', ',
    '"',
    "'",
    '#',
    '|',
    '\n',
    '\n  ',
    '\n    ',
    ':',
    ' ',
    '@x',
    '•',
  );
  const text = fc.array(pieces, { maxLength: 40 }).map((all) => all.join(''));

  it('never throws and never ends outside of the text, whatever it is', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (whole, at) => {
        const offset = Math.min(at, whole.length);
        readYaml(whole);
        const place = placeAt(whole, offset);
        expect(place === undefined || (place.word.from >= 0 && place.word.from <= offset)).toBe(true);
        completeAt(whole, offset, of('gateway'));
        hoverAt(whole, offset, of('gateway'));
      }),
    );
  });

  it('of a megabyte takes steps in proportion to its lines', () => {
    const one = 'targets:\n' + '  - { provider: "@sim", retry: { attempts: 2 } }\n'.repeat(20_000);
    const root = readYaml(one);
    expect(root?.kind === 'map' && root.entries[0]?.value?.kind === 'seq' && root.entries[0].value.items.length).toBe(
      20_000,
    );
  });
});
