/** Protobuf's JSON accepts a field by its camelCase and by its snake_case name. */

/** All fields of such APIs have shorter names. A longer name keeps its spelling. */
const LONGEST_NAME = 128;

export function toCamel(name: string): string {
  return name.includes('_') && name.length <= LONGEST_NAME ? camelized(name) : name;
}

/** Written without a pattern, which takes four times as long (measured): a body may have a hundred thousand fields. */
function camelized(name: string): string {
  let camel = '';
  let from = 0;
  for (let at = name.indexOf('_'); at >= 0; at = name.indexOf('_', at + 1)) {
    const next = name[at + 1] ?? '';
    if (!isLowerOrDigit(next)) continue;
    camel += name.slice(from, at) + next.toUpperCase();
    from = at + 2;
  }
  return camel + name.slice(from);
}

const isLowerOrDigit = (letter: string): boolean =>
  (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');

export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
