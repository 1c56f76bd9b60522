import type { TestAnswer } from '../../../../schemas/types.generated.ts';
import type { FormatName } from '../../../formats/conversation.ts';
import { formats } from '../../../formats/index.ts';
import type { AttemptJson, CaseRecord, TryJson } from './shapes.ts';

/** Longer than any limit of silence. */
const SILENCE = '3600s';

/** One answer for each try, in order. */
export const answersOf = ({ attempts, status = 0 }: CaseRecord): TestAnswer[] =>
  attempts.flatMap((attempt, index) => {
    const isLast = index === attempts.length - 1;
    return attempt.tries.map((one, at) =>
      answerOf(one, attempt, { isLast: at === attempt.tries.length - 1, isSent: isLast && status < 400 }),
    );
  });

interface Place {
  /** The last try of its attempt, whose failure the record describes. */
  readonly isLast: boolean;
  /** Its reply had begun to leave. */
  readonly isSent: boolean;
}

function answerOf({ status, outcome, error }: TryJson, attempt: AttemptJson, { isLast, isSent }: Place): TestAnswer {
  if (status !== undefined && status >= 400) return refusal(status, isLast ? attempt : { ...attempt, failure: {} });
  if (outcome === 'success') return { answer: '[text]' };
  const code = error?.code ?? '';
  if (code === 'stream_interrupted') return { fault: 'cut' };
  if (code.startsWith('timeout_')) return isSent ? { answer: '[text] [text]', pause: SILENCE } : { fault: 'hang' };
  if (status !== undefined) return { fault: 'garbage' };
  return { fault: 'refuse' };
}

/** In the API of the target: what the gateway makes of a refusal depends on its words. */
function refusal(status: number, { failure = {}, url = '' }: AttemptJson): TestAnswer {
  const { upstream_message: message, upstream_kind: type, upstream_code: code, upstream_param: param } = failure;
  const retryAfter = failure.retry_after_ms;
  const headers = retryAfter !== undefined && { headers: { 'retry-after-ms': String(Math.ceil(retryAfter)) } };
  if (message === undefined) return { status, ...headers };
  const { body } = formats[formatAt(url)].encodeError({
    status,
    message,
    type: type ?? '',
    code: code ?? null,
    param: param ?? null,
    requestId: 'recorded',
  });
  return { status, ...headers, body };
}

const formatAt = (url: string): FormatName =>
  /:(?:stream)?generateContent|:countTokens/i.test(url)
    ? 'gemini'
    : /\/messages|rawPredict/i.test(url)
      ? 'anthropic-messages'
      : 'openai-chat';
