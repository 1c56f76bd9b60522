import { SEARCHED, type UpstreamFailure } from '../../formats/events.ts';
import type { ErrorCode } from '../../plugin/index.ts';

/** A vendor's words for a failure that its status does not show. wordings.test.ts has a row for each vendor. */
interface Wording {
  readonly code: ErrorCode;
  /** Default: any error status. */
  readonly statuses?: readonly number[];
  /** Types and codes. */
  readonly words?: ReadonlySet<string>;
  /**
   * Vendors quote texts of the request in the message. Where the failure counts against the target, the pattern
   * therefore begins at its start, where callers can put words only with the name of an unknown field or model
   * (`REFUSED_NAME`).
   */
  readonly says?: RegExp;
}

const anyOf = (parts: readonly string[]): RegExp => new RegExp(parts.join('|'), 'i');
const beginning = (parts: readonly string[]): RegExp => new RegExp(`^(?:${parts.join('|')})`, 'i');

/** Statuses that refuse a prompt; servers that validate requests against a schema use 422. */
const REFUSALS = [400, 413, 422];

/** The first row that fits decides. */
const WORDINGS: readonly Wording[] = [
  {
    // OpenAI answers 429 for an account without credit, where a retry cannot help.
    code: 'insufficient_quota',
    words: new Set([
      'insufficient_quota',
      'billing_error',
      'billing_hard_limit_reached',
      'billing_not_active',
      'BILLING_DISABLED',
      'exceeded_current_quota_error',
      'Arrearage',
      'AccountOverdueError',
    ]),
  },
  {
    code: 'content_filter',
    words: new Set([
      'content_filter',
      'contentFilter',
      'content_policy_violation',
      'moderation_blocked',
      'ResponsibleAIPolicyViolation',
    ]),
  },
  { code: 'invalid_api_key', statuses: [400], words: new Set(['API_KEY_INVALID']) },
  {
    code: 'context_length_exceeded',
    statuses: REFUSALS,
    words: new Set(['context_length_exceeded', 'exceed_context_size_error', 'tokens_limit_reached']),
  },
  // Groq's answer to a prompt above its tokens per minute. It keeps its status 413, because a retry would be refused again.
  { code: 'rate_limit_exceeded', statuses: [413], words: new Set(['rate_limit_exceeded']) },
  {
    code: 'insufficient_quota',
    statuses: [400, 403, 412, 429],
    says: beginning([
      'your credit balance is too low',
      'you have reached your specified (?:workspace )?api usage limits',
      'insufficient (?:account )?balance',
      'sorry, your account balance is insufficient',
      'key limit exceeded',
      'out of call volume quota',
      'this api method requires billing to be enabled',
      'your (?:newly created )?team (?:\\S+ )?(?:has either used all available credits|doesn.t have any credits)',
      'billing hard limit has been reached',
      'access denied, please make sure your account is in good standing',
      'account \\S+ is suspended',
    ]),
  },
  {
    code: 'invalid_api_key',
    statuses: [400],
    says: beginning(['api key (?:not valid|not found|expired)', 'incorrect api key provided']),
  },
  {
    code: 'context_length_exceeded',
    statuses: REFUSALS,
    says: anyOf([
      'prompt is too long',
      'prompt too long',
      'prompt exceeds max length',
      'input is too long',
      'maximum (?:context|prompt) length',
      'context (?:length|window) (?:of|is|exceed)',
      'exceeds? (?:the |max )?(?:available )?context (?:limit|size|window|length)',
      'token count .*exceeds',
      'token count is \\d+ but',
      'exceed(?:s|ed)? .*\\btoken limit',
      'too many (?:input )?tokens',
      "longer than the (?:maximum model length|model's context length)",
      'input length \\(\\d+ tokens\\) exceeds',
      'range of input length should be',
      '`inputs` (?:tokens \\+|must have less than)',
    ]),
  },
  {
    code: 'content_filter',
    statuses: REFUSALS,
    says: anyOf([
      'content (?:filtering|management) policy',
      'violat(?:e|es|ing) (?:our|\\S+) (?:usage polic|Responsible AI)',
      'rejected as a result of our safety system',
    ]),
  },
];

/** Messages about an unknown field or model. Servers with Pydantic, and OpenRouter, begin them with its name, which the caller has chosen. */
const REFUSED_NAME =
  /(?:extra (?:inputs|fields) (?:are )?not permitted|(?:unknown|unrecognized) (?:field|name|parameter|argument)|not a valid model|(?:unknown|invalid|unsupported|no such) model|model (?:not found|does not exist))/i;

/** The cause that the vendor's own words name for a failure with this status. Undefined: the status decides. */
export function codeOfWording({ kind, code, message }: UpstreamFailure, status: number): ErrorCode | undefined {
  const text = REFUSED_NAME.test(message) ? '' : message.slice(0, SEARCHED);
  const isWord = (words: ReadonlySet<string>): boolean =>
    (kind !== undefined && words.has(kind)) || (code !== undefined && words.has(code));
  return WORDINGS.find(
    ({ statuses, words, says }) =>
      (!statuses || statuses.includes(status)) && ((words && isWord(words)) || says?.test(text)),
  )?.code;
}
