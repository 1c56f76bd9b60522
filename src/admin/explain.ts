import type { IncomingMessage } from 'node:http';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { failure, methodNotAllowed, notFound, type AdminAnswer } from './answer.ts';
import { BadQuestion, readQuestion } from '../dry-run/explain/read-question.ts';
import type { ExplainOutcome, ExplainSource } from '../dry-run/explain/explain-source.ts';
import { explanationText } from '../dry-run/explain/explanation-text.ts';

export const EXPLAIN = '/admin/v1/explain';

/**
 * Questions that are read, wait or are being answered, each with a body in memory. They are answered one by one, and what they take is taken
 * from the requests that are served: a few people ask, no machine.
 */
const MAX_QUESTIONS = 4;

const LATER = { 'retry-after': '1' };

/** As large as a request that is kept: what is asked is told of every field of it, by the process that serves. */
const MAX_QUESTION_BYTES = 1024 * 1024;

type Limits = ServerSettings['limits'];

/** `POST /admin/v1/explain` and `GET /admin/v1/explain/ID`. */
export function createExplainAnswers(source: ExplainSource, limits: () => Limits) {
  let questions = 0;
  return async (request: IncomingMessage, id: string): Promise<AdminAnswer> => {
    const refused = refusal(request, id);
    if (refused) return refused;
    if (questions >= MAX_QUESTIONS)
      return failure(503, 'busy', `${MAX_QUESTIONS} questions are being answered already.`, LATER);
    questions += 1;
    try {
      return id === '' ? await explain(request, source, limits()) : await explained(request, source, id);
    } finally {
      questions -= 1;
    }
  };
}

function refusal(request: IncomingMessage, id: string): AdminAnswer | undefined {
  const { method, headers } = request;
  if (id !== '') return method === 'GET' || method === 'HEAD' ? undefined : methodNotAllowed('GET, HEAD');
  if (method !== 'POST') return methodNotAllowed('POST');
  // A page in a browser can send a form anywhere, and JSON only where it is allowed to ask first (Fetch, section 3.3.1).
  if (/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return undefined;
  return failure(415, 'unsupported_media_type', 'Content-Type must be application/json.');
}

async function explain(request: IncomingMessage, source: ExplainSource, limits: Limits): Promise<AdminAnswer> {
  const limit = Math.min(limits.body, MAX_QUESTION_BYTES);
  const bytes = await readBody(request, limit);
  if (!bytes) {
    const message = `The question exceeds ${limit} bytes${limit < MAX_QUESTION_BYTES ? ' (limits.body)' : ''}.`;
    // What is still on its way is not waited for.
    return failure(413, 'request_too_large', message, { connection: 'close' });
  }
  try {
    return answerOf(await source.explain(readQuestion(bytes, limits)), request);
  } catch (error) {
    if (error instanceof BadQuestion) return failure(400, 'invalid_question', error.message);
    throw error;
  }
}

async function explained(request: IncomingMessage, source: ExplainSource, id: string): Promise<AdminAnswer> {
  const outcome = await source.explained(id);
  if (outcome) return answerOf(outcome, request);
  return notFound(
    'No request is kept under this id. It is the one in `x-gateway-explain-id`, not that of the request; the latest 100 in each process are ' +
      'kept until that process ends, where `reply_headers` or `admin.explain` asks for it.',
  );
}

function answerOf({ explanation, refused }: ExplainOutcome, { headers }: IncomingMessage): AdminAnswer {
  if (refused)
    return failure(refused.status, refused.code, refused.message, refused.status === 503 ? LATER : undefined);
  return { status: 200, body: wantsText(headers.accept) ? explanationText(explanation) : explanation };
}

/** Only who names it, and not JSON, is a person. */
const wantsText = (accept = ''): boolean => /\btext\/plain\b/i.test(accept) && !/\bjson\b/i.test(accept);

/** Undefined: there is more than `limit`. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(bytes > limit ? undefined : Buffer.concat(pieces));
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= limit) return void pieces.push(piece);
      request.removeAllListeners('data');
      end();
    });
    request
      .once('end', end)
      .once('error', reject)
      .once('close', () => reject(new Error('the client left')));
  });
}
