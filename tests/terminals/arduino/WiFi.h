// Of ESP32's WiFi library, what the sketch uses.
#pragma once
#include "Arduino.h"

typedef enum { WL_IDLE_STATUS = 0, WL_CONNECTED = 3, WL_DISCONNECTED = 6 } wl_status_t;

class Client {
 public:
  virtual ~Client() = default;
};
class WiFiClient : public Client {};

class WiFiClass {
 public:
  wl_status_t begin(const char* ssid, const char* passphrase = nullptr);
  wl_status_t status();
};
extern WiFiClass WiFi;
