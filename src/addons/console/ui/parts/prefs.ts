import { effect, signal } from '@preact/signals';
import { store, stored } from '../storage.ts';

/** A choice of this browser, remembered. */
function remembered<Value extends string>(name: string, values: readonly [Value, ...Value[]]) {
  const known = stored(name);
  const choice = signal<Value>(values.find((value) => value === known) ?? values[0]);
  effect(() => store(name, choice.value));
  return choice;
}

export const theme = remembered('gatehouse-theme', ['system', 'light', 'dark']);
export const density = remembered('gatehouse-density', ['comfortable', 'compact']);
export const zone = remembered('gatehouse-zone', ['local', 'UTC']);
export const shortcuts = remembered('gatehouse-keys', ['on', 'off']);

export const next = <Value extends string>(values: readonly [Value, ...Value[]], now: Value): Value =>
  values[(values.indexOf(now) + 1) % values.length] ?? values[0];

export function applyPrefs(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    document.documentElement.dataset['density'] = density.value;
  });
}
