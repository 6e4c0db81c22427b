// PubSubClient 2.8, as its header declares it.
#pragma once
#include <functional>

#include "Arduino.h"
#include "WiFi.h"

#define MQTT_MAX_PACKET_SIZE 256
#define MQTT_CALLBACK_SIGNATURE std::function<void(char*, uint8_t*, unsigned int)> callback

class PubSubClient {
 public:
  PubSubClient(Client& client);
  PubSubClient& setServer(const char* domain, uint16_t port);
  PubSubClient& setCallback(MQTT_CALLBACK_SIGNATURE);
  PubSubClient& setKeepAlive(uint16_t keepAlive);
  boolean setBufferSize(uint16_t size);
  boolean connect(const char* id, const char* user, const char* pass, const char* willTopic, uint8_t willQos,
                  boolean willRetain, const char* willMessage);
  boolean publish(const char* topic, const char* payload);
  boolean publish(const char* topic, const char* payload, boolean retained);
  boolean subscribe(const char* topic);
  boolean subscribe(const char* topic, uint8_t qos);
  boolean loop();
  boolean connected();
  int state();
};
