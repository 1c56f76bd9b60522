import type { Failure } from './results.ts';

export const placeOf = ({ file, line, column }: Failure): string => `${file}:${line}:${column}`;

/** `outbound.body.max_token; did you mean "max_tokens"?` */
export function headOf({ what, message, suggestion }: Failure): string {
  const head = [what, message].filter((one) => one !== undefined).join(': ');
  return suggestion === undefined ? head : `${head}; did you mean "${suggestion}"?`;
}

/** The expected and actual values that exist. */
export function diffOf({ expected, got }: Failure): readonly (readonly [word: 'expected' | 'got', text: string])[] {
  return [
    ...(expected === undefined ? [] : [['expected', expected] as const]),
    ...(got === undefined ? [] : [['got', got] as const]),
  ];
}
