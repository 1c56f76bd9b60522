import { loadRe2 } from '../../../core/kernel/on-demand.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { searchWhole, type TextSearch } from './text-search.ts';

interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Rules that a whole text must keep, all of them. */
export interface TextRules {
  readonly contains?: readonly string[];
  readonly operator: 'any' | 'all' | 'none';
  readonly pattern?: string;
  readonly not_pattern?: string;
  readonly words?: Range;
  readonly sentences?: Range;
  readonly characters?: Range;
  readonly ends_with?: string;
  readonly letters?: 'upper' | 'lower';
  readonly json_keys?: readonly string[];
  readonly code?: false;
  readonly empty?: false;
}

type Holds = (text: string) => boolean;

export function searchBroken(rules: TextRules): TextSearch {
  const all = holdsOf(rules);
  return searchWhole((text) => !all.every((holds) => holds(text)));
}

function holdsOf(rules: TextRules): readonly Holds[] {
  const { contains, operator, pattern, not_pattern: not, ends_with: end, letters, json_keys: keys } = rules;
  const ranges = (
    [
      ['words', wordsIn],
      ['sentences', sentencesIn],
      ['characters', charactersIn],
    ] as const
  ).flatMap(([name, count]) => {
    const range = rules[name];
    return range ? [(text: string): boolean => isWithin(count(text), range)] : [];
  });
  return [
    ...ranges,
    ...(contains ? [(text: string) => containsWords(text, contains, operator)] : []),
    ...(pattern === undefined ? [] : [finds(pattern)]),
    ...(not === undefined ? [] : [opposite(finds(not))]),
    ...(end === undefined ? [] : [(text: string) => text.trimEnd().endsWith(end)]),
    ...(letters ? [(text: string) => text === (letters === 'upper' ? text.toUpperCase() : text.toLowerCase())] : []),
    ...(keys ? [(text: string) => hasKeys(text, keys)] : []),
    ...(rules.code === false ? [(text: string) => !CODE.test(text)] : []),
    ...(rules.empty === false ? [(text: string) => text.trim() !== ''] : []),
  ];
}

function containsWords(text: string, words: readonly string[], operator: TextRules['operator']): boolean {
  const shown = text.toLowerCase();
  const isIn = (word: string): boolean => shown.includes(word.toLowerCase());
  if (operator === 'all') return words.every(isIn);
  return operator === 'any' ? words.some(isIn) : !words.some(isIn);
}

function finds(pattern: string): Holds {
  const compiled = loadRe2().RE2JS.compile(pattern);
  return (text) => compiled.matcher(text).find();
}

const opposite =
  (holds: Holds): Holds =>
  (text) =>
    !holds(text);

const isWithin = (count: number, { min = 0, max = Infinity }: Range): boolean => count >= min && count <= max;

const wordsIn = (text: string): number => text.match(/\S+/g)?.length ?? 0;
const sentencesIn = (text: string): number =>
  text.match(/[^.!?。！？]+/g)?.filter((one) => one.trim() !== '').length ?? 0;
const charactersIn = (text: string): number => [...text].length;

function hasKeys(text: string, keys: readonly string[]): boolean {
  const value = parseJson(text);
  return isObject(value) && keys.every((key) => Object.hasOwn(value, key));
}

/** A fenced block of Markdown, or a line that only a program has. */
const CODE = /```|^\s{0,20}(?:#include <|import \S+ from |def \w+\(|function \w+\(|public class |SELECT \S.* FROM )/m;
