/** Words that are still being composed, as in Chinese: Enter chooses one of them, Escape closes their list. */

import type { KeyboardEvent as ReactKeyboardEvent } from "react";

export function isComposing(event: KeyboardEvent | ReactKeyboardEvent): boolean {
  const native = "nativeEvent" in event ? event.nativeEvent : event;
  // Some browsers end the composition before they tell of its last key, which has this code then.
  return native.isComposing || native.keyCode === 229;
}

/** `onKeyDownCapture` of whatever has fields: such an Enter neither submits a form nor adds what is half written. */
export function holdWhileComposing(event: ReactKeyboardEvent): void {
  if (event.key !== "Enter" || !isComposing(event)) return;
  event.preventDefault();
  event.stopPropagation();
}
