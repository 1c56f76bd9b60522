import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusIsThere, forAll, judges, ReplayedFamily, type Answer, type Recording } from './recordings.ts';

/** Families of Google's own API, by the entry that is in front of them. */
const FAMILIES = [
  ['gemini', 'studio'],
  ['vertex-gemini', 'vertex'],
] as const;

const OPERATIONS: ReadonlySet<string> = new Set(['generateContent', 'streamGenerateContent', 'countTokens']);

describe.skipIf(!corpusIsThere).each(FAMILIES)('recorded exchanges of %s through Gemini’s own routes', (name, slug) => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open(name);
  });
  afterAll(() => family.close());

  it.each(['true', 'false'])(
    'pass both ways as they are, cut at any byte: strict %s',
    { timeout: 300_000 },
    async (strict) => {
      const { checkPassthrough } = await judges();
      // Enums as numbers are a mode of Google's clients in Python's gRPC library, which no other recording has.
      const records = family.records.filter(
        ({ op, request_body: body, features = [] }) => OPERATIONS.has(op) && body && !features.includes('enum_int'),
      );
      expect(records.length).toBeGreaterThan(0);
      const findings = await forAll(records, async (record) => {
        const { id, op, request_body: body } = record;
        const path = `/v1beta/models/@${slug}/replay--${id}:${op}`;
        const query = record.response_body_kind === 'sse' ? '?alt=sse' : '';
        // Some clients repeat the model of the path.
        const model = body && 'model' in body ? { model: `models/@${slug}/replay--${id}` } : {};
        const answer = await family.ask(
          path + query,
          { ...body, ...model },
          { 'x-gateway-strict-open-ai-compliance': strict },
        );
        const found = [
          ...(record.response_status >= 400
            ? errorFindings(record, answer)
            : checkPassthrough(asBody(record), answer).findings),
          ...(isSent(body, family.sent(id)) ? [] : [{ rule: 'sent', body, sent: family.sent(id) }]),
        ];
        return found.map((finding) => ({ id, ...finding }));
      });
      expect(findings).toEqual([]);
    },
  );
});

/** The array of a recorded stream is text. */
const asBody = (record: Recording): Recording =>
  record.response_body_kind === 'json_array_stream'
    ? { ...record, response_body: JSON.parse(String(record.response_body)) as unknown }
    : record;

/** The model is in the path, and a count names the one in the request that it holds. */
function isSent(body: object | null, sent: unknown): boolean {
  const { model: _, ...asked } = { model: undefined, ...body };
  return isDeepStrictEqual(asked, sent) || 'generateContentRequest' in asked;
}

/** An error keeps its status and its message, unless it refuses the key of the entry. */
function errorFindings(
  { response_status: expected, response_body: recorded }: Recording,
  { status, body }: Answer,
): object[] {
  const messageOf = (value: unknown): unknown => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return (first as { error?: { message?: unknown } }).error?.message;
  };
  // The entry's own key: its refusal is no error of the caller, and its words are the operator's alone.
  const isKeyRefused = JSON.stringify(recorded).includes('"API_KEY_INVALID"');
  const isSame = isKeyRefused
    ? status === 502 && /refused the credentials of the catalog entry/.test(String(messageOf(body)))
    : status === expected && messageOf(body) === messageOf(recorded);
  return isSame ? [] : [{ rule: 'error', expected: recorded, actual: { status, body } }];
}
