import { isObject } from '../../formats/json/object.ts';

/** The items of a list. */
const ITEMS = '[]';

/** `tools[].strict` as keys and `[]`. */
export const stepsOf = (path: string): readonly string[] =>
  path.split('.').flatMap((part) => (part.endsWith(ITEMS) ? [part.slice(0, -ITEMS.length), ITEMS] : [part]));

/**
 * A copy of the value without the field at the end of the steps, wherever they lead to one. Returns the value itself if nothing
 * is removed.
 * @param removes called for each such field with its value and its place
 */
export function removeFields(
  value: unknown,
  steps: readonly string[],
  removes: (field: unknown, place: string) => boolean,
): unknown {
  const walk = (from: unknown, at: number, place: string): unknown => {
    const step = steps[at];
    if (step === undefined) return removes(from, place) ? undefined : from;
    if (step === ITEMS) {
      if (!Array.isArray(from)) return from;
      const items = from.map((item: unknown, index) => walk(item, at + 1, `${place}[${index}]`));
      return items.some((item, index) => item !== from[index]) ? items : from;
    }
    if (!isObject(from) || !Object.hasOwn(from, step)) return from;
    const field = walk(from[step], at + 1, place === '' ? step : `${place}.${step}`);
    if (field === from[step]) return from;
    if (field !== undefined) return { ...from, [step]: field };
    const { [step]: _, ...others } = from;
    return others;
  };
  return walk(value, 0, '');
}
