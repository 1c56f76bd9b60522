import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '../conversation.ts';
import { formats } from '../index.ts';
import { ReplyTexts, type TextForm } from './reply-texts.ts';

/** Recorded traffic is beside the checkout and never part of it. Without it these tests are skipped. */
const CORPUS = new URL('../../../../shared/corpus/dev/', import.meta.url);
const FAMILIES: Readonly<Record<string, FormatName>> = {
  anthropic: 'anthropic-messages',
  'vertex-anthropic': 'anthropic-messages',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai-responses',
  gemini: 'gemini',
  'vertex-gemini': 'gemini',
};
const fileOf = (family: string): URL => new URL(`${family}.jsonl`, CORPUS);
const hasCorpus = Object.keys(FAMILIES).every((family) => existsSync(fileOf(family)));

interface Recording {
  readonly id: string;
  readonly op: string;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly response_body: unknown;
}

const FORMS: Readonly<Record<string, TextForm>> = { json: 'json', sse: 'sse', json_array_stream: 'json-array' };
const GENERATION =
  /^(?:messages|rawPredict|streamRawPredict|generateContent|streamGenerateContent|chat\.completions|responses)$/;

function repliesOf(family: string): readonly Recording[] {
  const lines = readFileSync(fileOf(family), 'utf8').split('\n').filter(Boolean);
  const all = lines.map((line) => JSON.parse(line) as Recording);
  return all.filter(
    (one) =>
      GENERATION.test(one.op) &&
      one.response_status === 200 &&
      FORMS[one.response_body_kind] &&
      one.response_body !== null,
  );
}

const bytesOf = ({ response_body: body }: Recording): Buffer =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

describe.skipIf(!hasCorpus)('recorded replies', () => {
  it.each(Object.entries(FAMILIES))(
    'of %s keep their bytes where no text changes, and lose a word wherever it is',
    (family, format) => {
      const replies = repliesOf(family);
      expect(replies.length).toBeGreaterThan(2);
      const seen = { texts: 0, changed: 0 };
      for (const reply of replies) {
        const form = FORMS[reply.response_body_kind]!;
        const whole = bytesOf(reply);
        const read = (change: (text: string) => string, onText: () => void = () => {}): string => {
          // An undecided text waits to the end: all of a text is given again with each piece.
          const open = () => (text: string, final: boolean) => {
            onText();
            return final ? change(text) : { text: '', keep: text.length };
          };
          const texts = new ReplyTexts({ layout: formats[format].texts!.reply, form, open, signed: false });
          const first = texts.push(whole);
          return Buffer.concat([first ?? Buffer.alloc(0), texts.end() ?? Buffer.alloc(0)]).toString();
        };
        expect(
          read(
            (text) => text,
            () => (seen.texts += 1),
          ),
          reply.id,
        ).toBe(whole.toString());
        if (read((text) => text.replaceAll(/[aeiou]/g, '_')) !== whole.toString()) seen.changed += 1;
      }
      expect(seen.texts).toBeGreaterThan(replies.length / 2);
      expect(seen.changed).toBeGreaterThan(replies.length / 2);
    },
  );
});
