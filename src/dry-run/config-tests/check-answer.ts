import type { TestAnswer } from '../../../schemas/types.generated.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import { alternatives } from '../../settings/problems/words.ts';
import type { CaseFinding } from './finding.ts';

const CONTENTS = ['answer', 'body', 'stream'] as const;
/** What ends a call before an upstream has said anything of its own. */
const WITHOUT_REPLY: ReadonlySet<string> = new Set(['refuse', 'reset', 'hang', 'garbage']);

/** What an answer says and would never be sent: its case would be about something else than it seems. */
export function checkAnswer(answer: TestAnswer, index: number): readonly CaseFinding[] {
  const at = (key: keyof TestAnswer, message: string): readonly CaseFinding[] => [
    { path: ['upstream', index, key] satisfies JsonPath, on: 'key', message },
  ];
  const given = CONTENTS.filter((name) => answer[name] !== undefined);
  const [, second] = given;
  if (second !== undefined) return at(second, `give either ${quoted(CONTENTS)}, not two of them`);
  const { fault, status = 200 } = answer;
  const idle = [...given, ...(['status', 'headers'] as const).filter((name) => answer[name] !== undefined)][0];
  if (idle !== undefined && isWithoutReply(answer))
    return at(idle, `\`${idle}\` is never sent with \`fault: ${fault}\``);
  if (answer.answer !== undefined && !hasGoodAnswer(answer))
    return at('answer', `a good answer is never sent with \`status: ${status}\`: give a \`body\`, or only the status`);
  if (answer.delay !== undefined && fault === 'hang') return at('delay', '`fault: hang` has no end that could be late');
  const mayPause = answer.stream !== undefined || (hasGoodAnswer(answer) && !isWithoutReply(answer));
  if (answer.pause === undefined || mayPause) return [];
  return at('pause', 'this is no stream, and has no events to pause between; a late reply has a `delay`');
}

const isWithoutReply = ({ fault }: TestAnswer): boolean => fault !== undefined && WITHOUT_REPLY.has(fault);

/** One that is written in the API of the upstream. */
const hasGoodAnswer = ({ body, stream, status = 200 }: TestAnswer): boolean =>
  body === undefined && stream === undefined && status < 300 && status !== 204;

const quoted = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));
