import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAiMaker, type Maker } from './maker.ts';
import { ENVELOPE, readEnvelope, writeEnvelope, type Envelope } from './envelope.ts';

const maker = fc.constantFrom<Maker>('claude', 'gemini', 'other');
const signature = fc.string({ unit: 'binary', minLength: 1 });
const envelope: fc.Arbitrary<Envelope> = fc.oneof(
  fc.record({ kind: fc.constant('thinking'), maker, signature }),
  fc.record({ kind: fc.constant('thinking'), maker, signature, text: fc.string({ unit: 'binary' }) }),
  fc.record({ kind: fc.constant('redacted'), maker, data: fc.string() }),
  fc.record({ kind: fc.constant('signature'), maker, signature, of: fc.constantFrom('call', 'text', 'picture') }),
);

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('an envelope', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(envelope, (written) => {
        const text = writeEnvelope(written);
        expect(text).toMatch(/^gh1\.[a-z0-9-]+\.[trs]\.[\w-]+$/);
        expect(readEnvelope(text)).toEqual(written);
      }),
    );
  });

  it.each<[string, Envelope, string]>([
    ['thinking', { kind: 'thinking', maker: 'gemini', signature: 'c2ln' }, 'gh1.gemini.t.eyJzaWduYXR1cmUiOiJjMmxuIn0'],
    ['redacted thinking', { kind: 'redacted', maker: 'claude', data: 'x' }, 'gh1.claude.r.eyJkYXRhIjoieCJ9'],
    [
      'the signature of a text',
      { kind: 'signature', maker: 'gemini', of: 'text', signature: 's' },
      'gh1.gemini.s.eyJmb3IiOiJ0ZXh0Iiwic2lnbmF0dXJlIjoicyJ9',
    ],
  ])('of %s has this form', (_, value, text) => {
    expect(writeEnvelope(value)).toBe(text);
  });

  it('of an unknown maker is that of another maker', () => {
    expect(readEnvelope(`gh1.mistral-1f2e.t.${encoded({ signature: 's' })}`)).toEqual({
      kind: 'thinking',
      maker: 'other',
      signature: 's',
    });
  });

  it('of one account of OpenAI names the account', () => {
    const envelope = { kind: 'thinking', maker: openAiMaker('1f2e'), signature: 's' } as const;
    expect(readEnvelope(writeEnvelope(envelope))).toEqual(envelope);
    expect(writeEnvelope(envelope)).toMatch(/^gh1\.openai-1f2e\.t\./);
  });

  it.each([
    ['nothing', ''],
    ['the mark alone', ENVELOPE],
    ['too few parts', `gh1.gemini.${encoded({ signature: 's' })}`],
    ['too many parts', `gh1.gemini.t.x.${encoded({ signature: 's' })}`],
    ['an unknown kind', `gh1.gemini.z.${encoded({ signature: 's' })}`],
    ['a maker in capitals', `gh1.GEMINI.t.${encoded({ signature: 's' })}`],
    ['a maker of many characters', `gh1.${'a'.repeat(65)}.t.${encoded({ signature: 's' })}`],
    ['text that is not base64url', 'gh1.gemini.t.!!!'],
    ['bytes that are not JSON', 'gh1.gemini.t.bm90IGpzb24'],
    ['JSON that is no object', `gh1.gemini.t.${encoded(['s'])}`],
    ['no signature', `gh1.gemini.t.${encoded({ text: 'hm' })}`],
    ['an empty signature', `gh1.gemini.t.${encoded({ signature: '' })}`],
    ['a signature that is no text', `gh1.gemini.t.${encoded({ signature: { a: 1 } })}`],
    ['redacted thinking without data', `gh1.gemini.r.${encoded({ signature: 's' })}`],
    ['a signature of no kind of part', `gh1.gemini.s.${encoded({ for: 'all', signature: 's' })}`],
    ['a line end behind it', `gh1.gemini.t.${encoded({ signature: 's' })}\n`],
    ['more than a mebibyte', `gh1.gemini.t.${encoded({ signature: 's'.repeat(1024 * 1024) })}`],
  ])('with %s is unreadable', (_, text) => {
    expect(readEnvelope(text)).toBeUndefined();
  });

  it('never throws, whatever a client sends', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json().map(encoded)), fc.constantFrom('t', 'r', 's'), (text, kind) => {
        expect(() => readEnvelope(`gh1.gemini.${kind}.${text}`)).not.toThrow();
      }),
    );
  });
});
