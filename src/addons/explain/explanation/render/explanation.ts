import type { Explanation, TargetExplanation } from '../explanation.ts';
import { headerRows } from './bodies.ts';
import { answerRows, headSections, chainSections, rulesRows } from './head.ts';
import { printBlock, printSection, row, span, type PageFormat, type Row, type Section } from './layout.ts';
import { leftOutRows, targetSections, targetTitle } from './target.ts';

/** Renders an explanation as text: first the destinations, then the processing, section by section. */
export function renderExplanation(reported: Explanation, page: PageFormat): string {
  const blocks: string[][] = [
    print([{ label: reported.answer ? 'answer' : 'goes to', rows: verdict(reported) }], page),
    print(headSections(reported), page),
    print(chainSections(reported.plugins), page),
    print([{ label: 'rules', rows: reported.rules.flatMap(rulesRows) }], page),
    ...targetBlocks(reported, page),
    print(
      [
        {
          label: 'reply',
          rows: headerRows({ headers: reported.replyHeaders.filter(({ name }) => !OF_THE_BODY.includes(name)) }),
        },
      ],
      page,
    ),
    print([{ label: 'left out', rows: leftOutRows(reported.leftOut) }], page),
    print([{ label: 'notes', rows: reported.notes.map((note) => row(note)) }], page),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Headers that every reply has and that only describe its body; `--json` has them. */
const OF_THE_BODY = ['content-type', 'content-length'];

const print = (sections: readonly Section[], page: PageFormat, depth = 0): string[] =>
  sections.flatMap((section) => (section.rows.length === 0 ? [] : printSection(section, page, depth)));

function verdict({ answer, targets }: Explanation): Row[] {
  if (answer) return answerRows(answer);
  return targets.map(({ provider, target, name, cache, refused }, index) =>
    row([
      span(index === 0 ? '' : 'then '),
      span(provider ? `@${provider.slug}/${provider.model}` : target, 'value'),
      ...(name === undefined ? [] : [span(`  ${JSON.stringify(name)}`, 'aside')]),
      ...(cache?.hit ? [span('  answered from the cache', 'good')] : []),
      ...(refused ? [span(`  ${refused.code ?? refused.status}`, 'bad')] : []),
    ]),
  );
}

/** The first target in full; of the others the sections that differ, without metrics. */
function targetBlocks(reported: Explanation, page: PageFormat): string[][] {
  const first = reported.targets[0] && new Set(printed(reported.targets[0], reported, page).map(({ text }) => text));
  return reported.targets.map((target, index) => {
    const title = printBlock([row(targetTitle(target))], page);
    const sections = printed(target, reported, page).filter(({ label }) => index === 0 || label !== 'metrics');
    const same = index === 0 ? [] : sections.filter(({ text }) => first?.has(text));
    const shown = sections.filter((section) => !same.includes(section)).map(({ text }) => text);
    const rest = same.map(({ label }) => label).join(', ');
    const asFirst = rest === '' ? [] : print([{ label: 'as target 1', rows: [row([span(rest, 'aside')])] }], page, 1);
    return [...title, ...shown, ...asFirst];
  });
}

const printed = (
  target: TargetExplanation,
  reported: Explanation,
  page: PageFormat,
): { readonly label: string; readonly text: string }[] =>
  targetSections(target, reported).map((section) => ({
    label: section.label,
    text: printSection(section, page, 1).join('\n'),
  }));

export const explanationJson = (reported: Explanation): string => `${JSON.stringify(reported, null, 2)}\n`;
