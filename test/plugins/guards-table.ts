/** Writes docs/plugins/guards-table.md from the cells that guards.test.ts tries: `node test/plugins/guards-table.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS } from './client-apis.ts';
import { ACTIONS, APIS, cells, CHECKS, doors, FORMS, noDoor, noRule } from './guards-cells.ts';

export const PAGE = join(import.meta.dirname, '../../docs/plugins/guards-table.md');

const UPSTREAMS: Readonly<Record<string, string>> = {
  '@openai': 'OpenAI chat',
  '@claude': 'Anthropic',
  '@gemini': 'Gemini',
};
const NAMES = { chat: 'chat completions', messages: 'Messages', responses: 'Responses', gemini: 'Gemini' } as const;

const row = (...columns: readonly string[]): string => `| ${columns.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows].join('\n');

const doorTable = table(
  ['client API', 'form of the reply', ...TARGETS.map((target) => UPSTREAMS[target.split('/')[0]!]!)],
  APIS.flatMap((api) =>
    FORMS.map((form) => row(NAMES[api], form, ...TARGETS.map(() => noDoor({ api, form }) ?? 'holds'))),
  ),
);

const ruleTable = table(
  ['check', ...(['input', 'output'] as const).flatMap((on) => ACTIONS.map((action) => `${on}, ${action}`))],
  CHECKS.map((check) =>
    row(
      `\`${check}\``,
      ...(['input', 'output'] as const).flatMap((on) =>
        ACTIONS.map((action) => noRule({ check, on, action }) ?? 'holds'),
      ),
    ),
  ),
);

export const page = `# The table of guards

Which guards hold where. A test sends a request through each of the ${cells.length.toLocaleString('en')} cells: every check with every action at every place below.
It fails for a cell that it has not tried, and for a page that is not the table of the test. [Guards](guards.md) describes the checks.

\`holds\`: with \`deny\`, nothing of a match leaves, and a denied request is not sent; with \`mask\`, the match is replaced, however the upstream cuts its text; with
\`observe\`, the bytes are those without a guard, and the match is counted. Any other word is the reason why there is no such cell.

## Places

Each of the ${doors.length} places that hold does so for every guard of the second table. An upstream of another format than the client's is translated.

${doorTable}

## Guards

${ruleTable}
`;

if (import.meta.main) writeFileSync(PAGE, page);
