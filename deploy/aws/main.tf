# Three S3 Express One Zone buckets, one for each zone that the brokers run in, and what the brokers' hosts need to use
# them: a role with the one permission, and a gateway endpoint, over which the traffic is free.
#
#   terraform init && terraform apply -var vpc_id=vpc-… -var 'route_table_ids=["rtb-…"]'

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.40"
    }
  }
}

variable "region" {
  type    = string
  default = "us-east-1"
}

variable "name" {
  description = "The start of every name."
  type        = string
  default     = "walbridge"
}

variable "zones" {
  description = "The ids (not the names, which differ from account to account) of the zones that the brokers run in."
  type        = list(string)
  default     = ["use1-az4", "use1-az5", "use1-az6"]
}

variable "vpc_id" {
  type = string
}

variable "route_table_ids" {
  description = "The route tables of the brokers' subnets."
  type        = list(string)
}

provider "aws" {
  region = var.region
}

resource "aws_s3_directory_bucket" "zone" {
  for_each = toset(var.zones)

  # A directory bucket's name ends in its zone.
  bucket          = "${var.name}--${each.key}--x-s3"
  data_redundancy = "SingleAvailabilityZone"
  type            = "Directory"

  location {
    name = each.key
    type = "AvailabilityZone"
  }
}

# A session is all that S3 Express asks a permission for. Reads and writes go with it.
data "aws_iam_policy_document" "zones" {
  statement {
    sid       = "WalbridgeObjects"
    actions   = ["s3express:CreateSession"]
    resources = [for zone in aws_s3_directory_bucket.zone : zone.arn]

    condition {
      test     = "StringEquals"
      variable = "s3express:SessionMode"
      values   = ["ReadWrite"]
    }
  }

  # What `walbridge doctor` looks at. The daemon does without.
  statement {
    sid       = "WalbridgeDoctor"
    actions   = ["s3express:GetLifecycleConfiguration"]
    resources = [for zone in aws_s3_directory_bucket.zone : zone.arn]
  }
}

data "aws_iam_policy_document" "host" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "broker" {
  name               = "${var.name}-broker"
  assume_role_policy = data.aws_iam_policy_document.host.json
}

resource "aws_iam_role_policy" "zones" {
  name   = "zones"
  role   = aws_iam_role.broker.id
  policy = data.aws_iam_policy_document.zones.json
}

resource "aws_iam_instance_profile" "broker" {
  name = aws_iam_role.broker.name
  role = aws_iam_role.broker.name
}

resource "aws_vpc_endpoint" "express" {
  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.${var.region}.s3express"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = var.route_table_ids
}

output "instance_profile" {
  description = "The profile for the brokers' hosts."
  value       = aws_iam_instance_profile.broker.name
}

output "zones" {
  description = "For the daemon's configuration."
  value       = [for id, zone in aws_s3_directory_bucket.zone : { name = id, url = "s3://${zone.bucket}?region=${var.region}" }]
}
