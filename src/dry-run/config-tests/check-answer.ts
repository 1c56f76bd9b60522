import type { TestAnswer } from '../../../schemas/types.generated.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import { alternatives } from '../../settings/problems/show.ts';
import type { CaseFinding } from './finding.ts';

const CONTENTS = ['answer', 'body', 'stream'] as const;
/** Faults that end a call before the upstream replies. */
const WITHOUT_REPLY: ReadonlySet<string> = new Set(['refuse', 'reset', 'hang', 'garbage']);

/** Checks an answer for parts that would never be sent, because its case would not test what it seems to. */
export function checkAnswer(answer: TestAnswer, index: number): readonly CaseFinding[] {
  const at = (key: keyof TestAnswer, message: string): readonly CaseFinding[] => [
    { path: ['upstream', index, key] satisfies JsonPath, on: 'key', message },
  ];
  const given = CONTENTS.filter((name) => answer[name] !== undefined);
  const [, second] = given;
  if (second !== undefined) return at(second, `give only one of ${quoted(CONTENTS)}`);
  const { fault, status = 200 } = answer;
  const idle = [...given, ...(['status', 'headers'] as const).filter((name) => answer[name] !== undefined)][0];
  if (idle !== undefined && isWithoutReply(answer))
    return at(idle, `\`${idle}\` is never sent with \`fault: ${fault}\``);
  if (answer.answer !== undefined && !hasGoodAnswer(answer))
    return at(
      'answer',
      `\`answer\` cannot be combined with \`status: ${status}\`: give a \`body\`, or only the status`,
    );
  if (answer.delay !== undefined && fault === 'hang')
    return at('delay', '`fault: hang` never replies, so it cannot be late');
  const mayPause = answer.stream !== undefined || (hasGoodAnswer(answer) && !isWithoutReply(answer));
  if (answer.pause === undefined || mayPause) return [];
  return at('pause', 'only a stream can have a `pause`; use `delay` for a late reply');
}

const isWithoutReply = ({ fault }: TestAnswer): boolean => fault !== undefined && WITHOUT_REPLY.has(fault);

/** Whether a successful answer is generated in the upstream's API. */
const hasGoodAnswer = ({ body, stream, status = 200 }: TestAnswer): boolean =>
  body === undefined && stream === undefined && status < 300 && status !== 204;

const quoted = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));
