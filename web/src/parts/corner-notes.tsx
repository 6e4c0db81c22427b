import "@mantine/core/styles/Notification.css";
import "@mantine/notifications/styles.css";

import { notifications, type NotificationData, Notifications } from "@mantine/notifications";

export function Notes() {
  return <Notifications position="bottom-right" />;
}

export function show(note: NotificationData): void {
  notifications.show(note);
}
