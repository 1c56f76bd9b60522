import type { ComponentChildren } from 'preact';
import { setQuery } from '../address.ts';

interface DrawerProps {
  readonly label: string;
  /** The member of the address that opens it. */
  readonly name: string;
  readonly head: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The detail of a row, beside the list; its own page on a narrow screen. */
export const Drawer = ({ label, name, head, children }: DrawerProps) => (
  <aside class="drawer" aria-label={label} tabIndex={-1}>
    <div class="row top">
      <div class="grow">{head}</div>
      <button type="button" aria-label="Close" onClick={() => setQuery({ [name]: undefined })}>
        ✕
      </button>
    </div>
    {children}
  </aside>
);
