import type { PluginExplanation, RulesExplanation, TestExplanation } from '../explanation.ts';
import { answerRows } from './head.ts';
import { row, span, type Line, type Row, type Section, type TextSpan, type Tone } from './layout.ts';
import { aside, at, from, shortText, valueText } from './words.ts';

/** One line per plugin. The source of a plugin is shown only if the settings list it. */
export function pluginRows(plugins: readonly PluginExplanation[]): Row[] {
  const longest = Math.max(0, ...plugins.map(({ name }) => name.length));
  return plugins.flatMap((plugin) => [
    row([span(plugin.name.padEnd(longest), toneOf(plugin)), ...doing(plugin)], whyOn(plugin)),
    ...(plugin.refused ? answerRows(plugin.refused).map((answer) => inset(answer)) : []),
  ]);
}

/** A plugin that did nothing is dimmed; it is listed to show the order. */
function toneOf({ refused, state, does }: PluginExplanation): Tone | undefined {
  if (refused) return 'bad';
  return state === 'run' && does !== undefined ? undefined : 'aside';
}

function doing({ state, does }: PluginExplanation): Line {
  if (state === 'not reached') return [aside('  not reached')];
  if (state === 'not run') return [span('  not run: it is not declared pure', 'warn')];
  return does === undefined ? [] : [span(`  ${shortText(does, 240)}`)];
}

const whyOn = ({ on }: PluginExplanation) => (on.kind === 'gateway' ? [] : from(on));

/** The plugins of the entry and request chains, one section per chain. */
export const chainSections = (plugins: readonly PluginExplanation[]): Section[] =>
  (['entry', 'request'] as const).flatMap((chain) => {
    const rows = pluginRows(plugins.filter((plugin) => plugin.chain === chain));
    return rows.length === 0 ? [] : [{ label: chain, rows }];
  });

/** Every evaluated condition, with the compared values; the later ones are only counted. */
export function rulesRows({ conditional, conditions, to, otherwise }: RulesExplanation): Row[] {
  const tried = conditions.filter(({ holds }) => holds !== undefined);
  const left = conditions.length - tried.length;
  return [
    row([span(conditional), aside('  leads to '), span(to, 'value'), aside(otherwise ? '  (default)' : '')]),
    ...tried.flatMap(({ index, holds, then, tests, at: place }) => [
      row([mark(holds === true), span(` conditions[${index}]`), aside(` then ${then}`)], at(place)),
      ...tests.flatMap((test) => testRows(test, 1)),
    ]),
    ...(left > 0 ? [row([aside(`  ${left} more not evaluated`)])] : []),
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
  const foundText = 'found' in rest ? `  is ${valueText(rest.found)}` : '  is absent';
  const found = holds === undefined ? `${foundText}, too long for a pattern` : foundText;
  const compared = ` ${field}${operator === undefined ? '' : ` ${operator}`} ${valueText(wanted)}`;
  return [row([indent, mark(holds), span(compared), aside(found)], at(place))];
}

const inset = ({ left, ...rest }: Row): Row => ({ left: [span('  '), ...left], ...rest });
