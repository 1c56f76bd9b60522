import { useEffect } from 'preact/hooks';
import { shortcuts } from './prefs.ts';

export type Keys = Readonly<Record<string, () => void>>;

/** Keys are off in fields and dialogs, with a modifier, and where the person has turned them off. */
function isFree(event: KeyboardEvent): boolean {
  const { target } = event;
  if (shortcuts.value === 'off' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
    return false;
  return !(target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]'));
}

const PREFIX_MS = 1200;
let prefix: { readonly key: string; readonly until: number } | undefined;

/** Calls the action of a key, or of two keys one after the other: `g r`. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!isFree(event)) return;
      const known = prefix && prefix.until > Date.now() ? `${prefix.key} ${event.key}` : event.key;
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
