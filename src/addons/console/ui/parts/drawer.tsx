import type { ComponentChildren } from 'preact';
import { setQuery } from '../address.ts';
import { Button } from './button.tsx';

interface DrawerProps {
  readonly label: string;
  /** The member of the address that opens it. */
  readonly name: string;
  readonly title?: ComponentChildren;
  /** In place of a title. */
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The detail of a row, beside the list; its own page on a narrow screen. */
export const Drawer = ({ label, name, title, head = <h2>{title}</h2>, children }: DrawerProps) => (
  <aside class="drawer" aria-label={label} tabIndex={-1}>
    <div class="row top">
      <div class="grow">{head}</div>
      <Button label="✕" name="Close" onClick={closeDrawer(name)} />
    </div>
    {children}
  </aside>
);

export const closeDrawer = (name: string, then?: () => void) => (): void => {
  setQuery({ [name]: undefined });
  then?.();
};
