import * as fc from 'fast-check';

/** Texts of a stream as JSON literals without their quotes: keys of features, escapes, line ends and broken ones. */
const TEXTS = [
  '',
  'Hello',
  ' wörld 🙂',
  String.raw`\n\"quoted\" \\`,
  String.raw`\",\"usage\":{\"prompt_tokens\":1},\"finish_reason\":\"stop\"`,
  String.raw`\"choices\": [ ]`,
  String.raw`\u00e9\ud83d`,
  String.raw`\x`,
  String.raw`\u12`,
  '\u0007',
  '\n',
  '\r\n',
  '\n\n',
  String.raw`\\"`,
  '"',
  'data: [DONE]',
  'x'.repeat(300),
];

/**
 * Streams of events that differ in their texts, with other events between them, broken texts, changed bytes and other
 * line ends.
 */
export function mutatedStream(event: (text: string) => string, others: readonly string[]): fc.Arbitrary<Buffer> {
  const text = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...TEXTS.slice(0, 7)) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value).slice(1, -1)) },
    { weight: 1, arbitrary: fc.constantFrom(...TEXTS.slice(7)) },
  );
  const record = fc.oneof(
    { weight: 12, arbitrary: text.map(event) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
  const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r');
  const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'"\\{}:, \n\r0x')), { maxLength: 2 });
  return fc
    .tuple(fc.array(record, { minLength: 1, maxLength: 14 }), lineEnd, changes, fc.boolean())
    .map(([records, end, changed, changes]) => {
      const stream = Buffer.from(records.join('').replaceAll('\n', end));
      if (changes) for (const [at, character] of changed) stream.write(character, at % stream.length, 'latin1');
      return stream;
    });
}
