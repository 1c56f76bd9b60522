import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `anthropic-${subject}/${name}`);

/** Gatehouse against `@langchain/openai`, both given the turns of requests of the Messages API. */
export const LANGCHAIN_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('turns', 'system-string', 'system-turn', 'system-both'),
    paths: ['messages[].role'],
    reason:
      'docs/protocols/openai-chat.md#messages: OpenAI’s newer models read system as developer; other servers know system only',
  },
  {
    cases: of('turns', 'system-blocks'),
    paths: ['messages[]**'],
    reason:
      'docs/protocols/messages-route.md#system-prompt: the system prompt is one message, whatever the number of its blocks; here there is one for each',
  },
  {
    cases: of('turns', 'empty-texts'),
    paths: ['messages[].content'],
    reason: 'docs/protocols/openai-chat.md#messages allows empty texts, so the caller’s stand',
  },
  {
    cases: of('turns', 'assistant-texts'),
    paths: ['messages[].content'],
    reason:
      'docs/protocols/messages-route.md#joined-texts: the texts of an assistant turn are joined; LangChain keeps the parts',
  },
  {
    paths: ['messages[].content'],
    cases: of(
      'rounds',
      'one-call',
      'call-without-input',
      'parallel-calls',
      'results-scrambled',
      'two-rounds',
      'result-and-question',
      'question-before-result',
      'result-error',
      'result-error-empty',
      'result-no-error',
      'result-empty',
      'result-object',
    ),
    reason:
      'docs/protocols/openai-chat.md#messages: a turn of calls alone has no content, which is null and not the empty text',
  },
  {
    cases: of('rounds', 'result-error', 'result-error-empty'),
    paths: ['messages[2].content'],
    reason:
      'docs/protocols/messages-route.md#failed-results: a call that failed says so in its text; LangChain’s `status` stays behind',
  },
  {
    cases: of('blocks', 'document-text', 'document-text-titled'),
    paths: ['messages[].content[]**'],
    reason: 'docs/protocols/messages-route.md#documents: a text document is text; LangChain sends it as a file',
  },
];
