import type { PluginExplanation, RulesExplanation, TestExplanation } from '../explanation.ts';
import { answerRows } from './head.ts';
import { row, span, type Line, type Row, type Section, type TextSpan, type Tone } from './layout.ts';
import { aside, at, from, shortText, valueText } from './words.ts';

/** One line each. Why a plugin is in its chain is said where somebody has said so in the settings. */
export function pluginRows(plugins: readonly PluginExplanation[]): Row[] {
  const longest = Math.max(0, ...plugins.map(({ name }) => name.length));
  return plugins.flatMap((plugin) => [
    row([span(plugin.name.padEnd(longest), toneOf(plugin)), ...doing(plugin)], whyOn(plugin)),
    ...(plugin.refused ? answerRows(plugin.refused).map((answer) => inset(answer)) : []),
  ]);
}

/** One that had nothing to do is there for its place in the order. */
function toneOf({ refused, state, does }: PluginExplanation): Tone | undefined {
  if (refused) return 'bad';
  return state === 'run' && does !== undefined ? undefined : 'aside';
}

function doing({ state, does }: PluginExplanation): Line {
  if (state === 'not reached') return [aside('  not reached')];
  if (state === 'not run') return [span('  not run: it does not say that it is pure', 'warn')];
  return does === undefined ? [] : [span(`  ${shortText(does, 240)}`)];
}

const whyOn = ({ on }: PluginExplanation) => (on.kind === 'gateway' ? [] : from(on));

/** Plugins of a whole chain, the chain's name beside them. */
export const chainSections = (plugins: readonly PluginExplanation[]): Section[] =>
  (['entry', 'request'] as const).flatMap((chain) => {
    const rows = pluginRows(plugins.filter((plugin) => plugin.chain === chain));
    return rows.length === 0 ? [] : [{ label: chain, rows }];
  });

/** Every condition that was asked, with the values compared; those behind the one that held, by number. */
export function rulesRows({ conditional, conditions, to, otherwise }: RulesExplanation): Row[] {
  const tried = conditions.filter(({ holds }) => holds !== undefined);
  const left = conditions.length - tried.length;
  return [
    row([span(conditional), aside('  leads to '), span(to, 'value'), aside(otherwise ? '  (default)' : '')]),
    ...tried.flatMap(({ index, holds, then, tests, at: place }) => [
      row([mark(holds === true), span(` conditions[${index}]`), aside(` then ${then}`)], at(place)),
      ...tests.flatMap((test) => testRows(test, 1)),
    ]),
    ...(left > 0 ? [row([aside(`  ${left} more not asked`)])] : []),
  ];
}

function mark(holds: boolean | undefined): TextSpan {
  if (holds === undefined) return span('?', 'warn');
  return holds ? span('✓', 'good') : span('✗', 'bad');
}

function testRows(
  { field, operator, wanted, holds, at: place, inner, ...rest }: TestExplanation,
  depth: number,
): Row[] {
  const indent = span('  '.repeat(depth));
  if (inner) {
    return [
      row([indent, mark(holds), span(` ${field}`)], at(place)),
      ...inner.flatMap((test) => testRows(test, depth + 1)),
    ];
  }
  const said = 'found' in rest ? `  is ${valueText(rest.found)}` : '  is not there';
  const found = holds === undefined ? `${said}, too long for a pattern` : said;
  const compared = ` ${field}${operator === undefined ? '' : ` ${operator}`} ${valueText(wanted)}`;
  return [row([indent, mark(holds), span(compared), aside(found)], at(place))];
}

const inset = ({ left, ...rest }: Row): Row => ({ left: [span('  '), ...left], ...rest });
