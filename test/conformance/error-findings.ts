import { ownKeyFindings, refusesOwnKey, type Answer, type Recording } from './recordings.ts';

type Reported = Readonly<Record<string, unknown>>;

/**
 * A recorded error reaches a client of OpenAI's APIs with its status and its message. Of another vendor's error the message may go on with
 * the gateway's advice, and code and parameter are the gateway's own.
 */
export function errorFindings(record: Recording, answer: Answer): object[] {
  if (refusesOwnKey(record)) return ownKeyFindings(record, answer);
  const { id, family, response_status: expected } = record;
  const { status, body } = answer;
  const { error: recorded } = record.response_body as { error: Reported };
  const { error: reported } = body as { error: Reported };
  const isSame = family.startsWith('openai')
    ? isSameError(recorded, reported)
    : String(reported['message']).startsWith(String(recorded['message']));
  return status === expected && isSame ? [] : [{ id, rule: 'error', recorded, reported, status }];
}

function isSameError(recorded: Reported, reported: Reported): boolean {
  const { code = null } = recorded;
  return (
    ['message', 'param'].every((key) => (reported[key] ?? null) === (recorded[key] ?? null)) &&
    (code === null || reported['code'] === code)
  );
}
