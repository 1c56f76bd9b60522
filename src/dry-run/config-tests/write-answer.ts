import type { TestAnswer } from '../../../schemas/types.generated.ts';
import type { FormatName } from '../../formats/conversation.ts';
import { formats } from '../../formats/index.ts';
import { errorBody } from '../../providers/simulator/wire.ts';
import { parsed, type Spoken } from './calls.ts';
import { answerOf, type WrittenReply } from './good-answer.ts';
import { taskAnswer } from './task-answer.ts';

/** Default text of a successful answer. */
const SOME_TEXT = 'Some answer.';

const WEB_PAGE = '<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>';

/** The reply for an answer of a case, in the upstream's API. */
export function writeAnswer(answer: TestAnswer, spoken: Spoken, asked: string): WrittenReply {
  const written = withStatus(bareAnswer(answer, spoken, asked), answer);
  return { ...written, headers: { ...written.headers, ...lowerCase(answer.headers ?? {}) } };
}

function bareAnswer(answer: TestAnswer, spoken: Spoken, asked: string): WrittenReply {
  const { status = 200, stream, fault, answer: text } = answer;
  // JSON Schema has no type for "any value".
  const body: unknown = answer.body;
  if (fault === 'garbage') return plain('text/html; charset=utf-8', WEB_PAGE);
  if (stream) return events(stream, spoken.format);
  if (body !== undefined)
    return typeof body === 'string' ? plain(typeOf(body), body) : plain(JSON_TYPE, JSON.stringify(body));
  if (status >= 400) return plain(JSON_TYPE, JSON.stringify(errorOf(status, spoken.format)));
  if (status >= 300 || status === 204) return plain(JSON_TYPE, '');
  if (spoken.task === 'generate') return answerOf(text ?? SOME_TEXT, spoken, parsed(asked));
  return taskAnswer(spoken, parsed(asked));
}

const withStatus = (written: WrittenReply, { status, fault }: TestAnswer): WrittenReply =>
  status === undefined || fault === 'garbage' ? written : { ...written, status };

const JSON_TYPE = 'application/json';
const typeOf = (text: string): string => (typeof parsed(text) === 'object' ? JSON_TYPE : 'text/plain; charset=utf-8');

const plain = (type: string, text: string): WrittenReply => ({
  status: 200,
  headers: { 'content-type': type },
  pieces: [text],
  stream: false,
});

const events = (stream: NonNullable<TestAnswer['stream']>, format: FormatName): WrittenReply => ({
  status: 200,
  headers: { 'content-type': formats[format].contentType.stream },
  pieces: stream.map((event) => (typeof event === 'string' ? event : eventOf(event))),
  stream: true,
});

/** APIs with named events repeat the name in the data. */
function eventOf(data: Readonly<Record<string, unknown>>): string {
  const { type } = data;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
}

function errorOf(status: number, format: FormatName): object {
  const message = `The test upstream answers ${status}.`;
  if (format === 'openai-chat') return errorBody(status, message);
  return formats[format].encodeError({ status, message, type: '', code: null, param: null, requestId: 'answer' }).body;
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
