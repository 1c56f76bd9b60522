import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELD_TABLES, responsesFields } from '../../../formats/fields/field-tables.ts';
import { geminiFields } from '../../../formats/fields/gemini-fields.ts';
import { VENDOR_OBJECT_KINDS, VENDOR_OBJECTS } from '../../../formats/fields/vendor-objects.ts';
import type { FieldSettings } from '../../kernel/index.ts';
import { FieldRules } from './field-rules.ts';
import { findViolation } from './rule-walk.ts';

const REFUSE: FieldSettings = { vendorObjects: [] };

const offenceOf = (body: object, settings: FieldSettings = REFUSE, table = responsesFields) =>
  findViolation(Buffer.from(JSON.stringify(body)), new FieldRules(settings, 'This key').for(table));

/** A body with the value at the path; `**.` as the field of an item of a list. */
function bodyAt(path: string, value: unknown): object {
  const [first, ...rest] = path.replace('**.', 'tools[].').split('.');
  const inner = rest.reduceRight<unknown>((within, key) => ({ [key]: within }), value);
  return first!.endsWith('[]') ? { [first!.slice(0, -2)]: [inner] } : { [first!]: inner };
}

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const idOf = (ids: RegExp | undefined): string => ['x-1', 'files/x', 'skill_1'].find((id) => !ids || ids.test(id))!;

describe('an object of the vendor', () => {
  const rows = VENDOR_OBJECTS.map((row) => [row.path, row] as const);

  it.each(rows)('%s is refused at every door, in either case, and passes where its kind is listed', (path, row) => {
    const { kind, ids, whole } = row;
    const others = VENDOR_OBJECT_KINDS.filter((one) => one !== kind);
    for (const table of FIELD_TABLES) {
      for (const spelled of [path, camel(path)]) {
        const body = bodyAt(spelled, idOf(ids));
        expect(offenceOf(body, REFUSE, table)?.object).toMatchObject({ kind });
        expect(offenceOf(body, { vendorObjects: others }, table)?.object).toMatchObject({ kind });
        expect(offenceOf(body, { vendorObjects: [kind] }, table)).toBeUndefined();
        expect(offenceOf(body, {}, table)).toBeUndefined();
        // The key's list says nothing of an account that is the caller's own.
        const own = new FieldRules({ vendorObjects: [] }, 'This key').ofOwnAccount.for(table);
        expect(findViolation(Buffer.from(JSON.stringify(body)), own)).toBeUndefined();
      }
      for (const unset of [null, ...(whole ? [] : ['', {}, [], 7])])
        expect(offenceOf(bodyAt(path, unset), REFUSE, table)).toBeUndefined();
    }
  });

  it.each<[string, object, string | undefined]>([
    ['an id in a list', { tools: [{ vector_store_ids: ['vs_1'] }] }, 'tools[0].vector_store_ids[0]'],
    ['an id in escapes', { input: [{ content: [{ file_id: ' f' }] }] }, 'input[0].content[0].file_id'],
    ['an id in `extra_body`', { extra_body: { prompt: { id: 'pmpt_1' } } }, 'extra_body.prompt.id'],
    ['a container by its object', { container: { id: 'container_1' } }, 'container.id'],
    ['an automatic container', { tools: [{ container: { type: 'auto', memory_limit: '4g' } }] }, undefined],
    [
      'files in an automatic container',
      { tools: [{ container: { file_ids: ['f'] } }] },
      'tools[0].container.file_ids[0]',
    ],
    ['a skill of the vendor', { container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } }, undefined],
    ['a file of the gateway', { file_id: `file-gh${'0'.repeat(32)}` }, undefined],
    ['a file of the gateway to Google', { file_uri: `files/file-gh${'0'.repeat(32)}` }, undefined],
    ['a file of Google by its name', { file_uri: 'files/x' }, 'file_uri'],
    ['a public file to Google', { file_uri: 'https://h.example/a.pdf' }, undefined],
    ['an id that begins like one', { file_id: `file-gh${'0'.repeat(31)}` }, 'file_id'],
    ['a public address', { file_id: 'https://h.example/a.pdf' }, undefined],
    [
      'a file of Google by its address',
      { image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/x' } },
      'image_url.url',
    ],
    ['the same with a port', { url: ' HTTPS://generativelanguage.googleapis.com:443/v1beta/files/x' }, 'url'],
    [
      'the same with an escaped slash',
      { image_url: 'https://generativelanguage.googleapis.com/v1beta/files%2Fx' },
      'image_url',
    ],
    ['the same with an escaped letter', { url: 'https://generativelanguage.googleapis.com/v1beta/%66iles/x' }, 'url'],
    ['the same with an escaped host', { url: 'https://generativelanguage%2Egoogleapis.com/v1beta/files/x' }, 'url'],
    [
      'the same behind a long path',
      { url: `https://generativelanguage.googleapis.com/${'./'.repeat(150)}v1beta/files/x` },
      'url',
    ],
    ['text about it', { content: 'https://generativelanguage.googleapis.com/v1beta/files/x' }, undefined],
    ['a bucket', { image_url: { url: 'gs://any/a.png' } }, 'image_url.url'],
    ['metadata', { metadata: { file_id: 'f', container: 'c' } }, undefined],
    ['a prompt as text', { prompt: 'id' }, undefined],
  ])('%s', (_, body, param) => {
    expect(offenceOf(body)?.param).toBe(param);
  });

  it('is found in time that grows with the bytes', () => {
    const from = process.threadCpuUsage();
    expect(offenceOf({ url: `https://${'generativelanguage'.repeat(50_000)}` })).toBeUndefined();
    // Processor time in µs, which a busy machine does not stretch. Time that grows with the square would be minutes.
    expect(process.threadCpuUsage(from).user).toBeLessThan(3_000_000);
  });

  it('may be in a bucket that is listed', () => {
    const settings = { vendorObjects: [], mediaBuckets: ['ours'] };
    expect(offenceOf({ url: 'gs://ours/a' }, settings)).toBeUndefined();
    expect(offenceOf({ url: 'gs://theirs/a' }, settings)).toMatchObject({ bucket: 'theirs' });
    expect(offenceOf({ url: 'gs://theirs/a' }, { vendorObjects: ['files'] })).toBeUndefined();
  });

  it('with an id that the gateway has given to the caller passes', () => {
    const rules = new FieldRules(REFUSE, 'This key').for(responsesFields);
    const body = Buffer.from('{"previous_response_id":"resp_1"}');
    expect(findViolation(body, rules, 'resp_1')).toBeUndefined();
    expect(findViolation(body, rules, 'resp_2')).toMatchObject({ param: 'previous_response_id' });
  });

  it('of Google with a value that only some targets take is refused by the preset too', () => {
    const file = { contents: [{ parts: [{ fileData: { fileUri: 'files/x' } }] }] };
    expect(offenceOf(file, { preset: 'shared_credentials' }, geminiFields)?.param).toBe(
      'contents[0].parts[0].fileData.fileUri',
    );
  });

  it('is in no body without one of the names and without an address', () => {
    const harmless = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('auto', 'file', 'resp_1', 1, null, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('id', 'type', 'input', 'tools', 'content'), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('input', 'tools', 'metadata'), harmless), (body) => {
        expect(offenceOf(body)).toBeUndefined();
      }),
    );
  });
});
