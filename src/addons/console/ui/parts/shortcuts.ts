import { useEffect } from 'preact/hooks';
import { shortcuts } from './prefs.ts';

export type Keys = Readonly<Record<string, () => void>>;

/** Keys are off in fields and dialogs, and where the person has turned them off. One with Ctrl is off in dialogs only. */
function isFree(event: KeyboardEvent, withCtrl: boolean): boolean {
  const { key, altKey, defaultPrevented } = event;
  // An element of a shadow root is that root's host to those outside of it.
  const around = event.composedPath().filter((one): one is Element => one instanceof Element);
  const isIn = (selector: string): boolean => around.some((one) => one.matches(selector));
  if (shortcuts.value === 'off' || altKey || defaultPrevented) return false;
  // These have Enter for themselves.
  if (key === 'Enter' && isIn('a, button, summary')) return false;
  return !isIn(withCtrl ? 'dialog' : 'input, textarea, select, dialog, [contenteditable]');
}

const PREFIX_MS = 1200;
let prefix: { readonly key: string; readonly until: number } | undefined;

/** Calls the action of a key, of one with Ctrl (`Ctrl k`), or of two keys one after the other (`g r`). */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const withCtrl = event.ctrlKey || event.metaKey;
      if (!isFree(event, withCtrl)) return;
      const before = withCtrl ? 'Ctrl' : prefix && prefix.until > Date.now() ? prefix.key : undefined;
      const known = before === undefined ? event.key : `${before} ${event.key}`;
      const action = keys[known];
      if (!action) return;
      event.preventDefault();
      prefix = undefined;
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/** Remembers the first of two keys. */
export function startPrefix(key: string): void {
  prefix = { key, until: Date.now() + PREFIX_MS };
}
