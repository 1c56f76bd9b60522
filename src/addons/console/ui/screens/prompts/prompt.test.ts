import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  edited,
  kindOf,
  mergePatch,
  namesIn,
  startOf,
  valuesOf,
  variablesOf,
  versionOf,
  type PromptVersion,
} from './prompt.ts';

describe('the variables of a version', () => {
  it.each([
    ['Summarise: {{ticket}}', ['ticket']],
    ['{{#tone}}Be {{ tone }}.{{/tone}}{{^tone}}Be formal.{{/tone}}', ['tone']],
    ['{{! a comment }}{{> house-style}}{{user.name}}', ['user']],
    ['{{a}} {{b}} {{a}}', ['a', 'b']],
    ['{ not }} one {{', []],
  ])('of %j are %j', (text, names) => expect(namesIn({ text })).toEqual(names));

  it('leave out what a list has in it', () => {
    const variables = { photos: { schema: { type: 'array' } } };
    const messages = [{ role: 'user', content: '{{#photos}}{{url}}{{/photos}} {{ticket}}' }];
    expect(namesIn({ messages, variables })).toEqual(['photos', 'ticket']);
  });

  const version: PromptVersion = {
    variables: {
      ticket: { example: 'It does not start.' },
      count: { schema: { type: 'integer' }, default: 3 },
      tone: { schema: { type: 'string', enum: ['friendly', 'formal'] }, default: 'formal' },
      short: { schema: { type: 'boolean' }, default: false },
      photos: { schema: { type: 'array' }, default: [] },
    },
  };

  it('have the values of their schemas, and the defaults where a field is empty', () => {
    expect(valuesOf(version, { count: '7', tone: 'friendly', short: 'true', photos: '["a"]' })).toEqual({
      ticket: 'It does not start.',
      count: 7,
      tone: 'friendly',
      short: true,
      photos: ['a'],
    });
    expect(valuesOf(version, { count: '', tone: '', short: '', photos: '', ticket: '' })).toEqual({ ticket: '' });
    expect(() => valuesOf(version, { photos: '[' })).toThrow('photos is not JSON.');
  });
});

describe('an edited version', () => {
  it.each<PromptVersion>([
    { messages: [{ role: 'user', content: 'Hello {{name}}' }], variables: { name: {} } },
    {
      model: '@sim/m',
      note: 'shorter',
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: ['b', '{{c}}'] },
      ],
    },
    {
      parameters: { temperature: 0.2 },
      messages: [
        { role: 'assistant', tool_calls: [{ id: '1' }] },
        { role: 'tool', tool_call_id: '1', content: 'x' },
      ],
    },
  ])('is the same while nothing is typed: %j', (version) => expect(versionOf(edited(version))).toEqual(version));

  it('has its one text as a message, and never a digest', () => {
    expect(versionOf(edited({ text: 'Hello', digest: 'sha256:0' }))).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });
});

const json = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(fc.integer(), fc.constant([1]), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer())),
);

/** RFC 7396. */
function applied(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged = new Map(
    Object.entries(typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {}),
  );
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, applied(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

it.each(['null', '[null]', '"text"', '{"a":null}', '{"a":{"schema":null}}', '{"a":{"schema":{"enum":1}}}'])(
  'whatever is typed as variables, the page reads them: %s',
  (variables) => {
    const draft = { ...edited({ text: 'Hello {{a}}' }), variables, rest: '{"text":1,"digest":null}' };
    const version = versionOf(draft);
    expect(namesIn(version)).toContain('a');
    for (const [, variable] of variablesOf(version))
      expect([kindOf(variable), startOf(variable)]).toEqual(['text', '']);
    expect(valuesOf(version, {})).toBeTypeOf('object');
  },
);

it('a merge patch makes one document of the other', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      expect(applied(before, mergePatch(before, after))).toEqual({ ...after });
    }),
  );
});

it('code names the prompt and its values, and no key', () => {
  for (const [, text] of codeOf('http://127.0.0.1:8787', 'summary@production', { ticket: "It's broken" })) {
    expect(text).toContain('summary@production');
    expect(text).toContain('broken');
    expect(text).toMatch(/GATEWAY_KEY/);
  }
});
